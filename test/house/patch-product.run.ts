import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// node patch-product.run.ts SERVER FOLDER
//
// Changes a product three times on a new database, and prints what is answered.

const [server = '', folder = ''] = process.argv.slice(2);
const { openInstance }: typeof import('../../src/server/index.ts') = await import(pathToFileURL(server).href);
const instance = await openInstance({ db: join(folder, 'lkm.db') });

const created = await call('POST', { name: 'Editor' });
const { id: productId, updatedAt: ifUpdatedAt } = created.data ?? {};
const renamed = await call('PATCH', { productId, name: 'Editor 2', ifUpdatedAt });
const stopped = await call('PATCH', { productId, active: false });
const stale = await call('PATCH', { productId, name: 'Editor 3', ifUpdatedAt: '2026-11-21T10:00:00Z' });
await instance.close();
process.stdout.write(
  JSON.stringify([renamed, stopped, stale].map(({ data, code }) => [code, data?.name, data?.active])),
);

/** What is looked at of a response. */
interface Answer {
  readonly code: number;
  readonly data?: { readonly id: string; readonly name: string; readonly active: boolean; readonly updatedAt: string };
}

async function call(method: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${instance.ownerToken}`, 'content-type': 'application/json' };
  const request = new Request('http://localhost/product', { method, headers, body: JSON.stringify(body) });
  const response = await instance.fetch(request);
  return JSON.parse(await response.text());
}
