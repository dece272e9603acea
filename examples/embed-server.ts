import { createClient } from 'lkm';
import { openInstance } from 'lkm/server';

//   npx node examples/embed-server.ts DATABASE_FILE
//
// The whole service inside another program, without a socket: the client is given the service itself as its network.

const instance = await openInstance({ db: process.argv[2] ?? 'lkm.db' });
const client = createClient({ baseUrl: 'http://127.0.0.1', token: instance.ownerToken, fetch: instance.fetch });

const product = await client.products.create({ name: 'Engine Pro' });
const { key } = await client.keys.create({ productId: product.id, usesPerKey: 1 });
const { license } = await client.keys.get({ productId: product.id, licenseKey: key });
console.log(`${license.key} expires ${license.expirationDate}`);

await instance.close();
