import assert from 'node:assert/strict';
import { ApiError, createClient } from 'lkm';
import { apiVersion, contract } from 'lkm/contract';
import { verifyLicenseFile } from 'lkm/license-file';

// What a program that imports the package may rely on, on any line of Node.js that is maintained.

const seen = [];
const client = createClient({
  baseUrl: 'https://licensing.example.com',
  token: 'lkm_admin_x',
  fetch: async (request) => {
    seen.push([request.method, new URL(request.url).pathname, await request.text()]);
    if (request.method === 'GET') return Response.json({ message: 'Key not found', code: 2 }, { status: 404 });
    return Response.json({ code: 0, key: 'ABCD-EFGH-IJKL-MNOP-QRST-UVWX' });
  },
});
const productId = 'prod_01jx0000000000000000000000';
const { key } = await client.keys.create({ productId, usesPerKey: 3 });
assert.equal(key, 'ABCD-EFGH-IJKL-MNOP-QRST-UVWX');
assert.deepEqual(seen, [['POST', '/create-key', `{"productId":"${productId}","usesPerKey":"3"}`]]);
await assert.rejects(client.keys.get({ productId, licenseKey: key }), ApiError);
await assert.rejects(createClient({ baseUrl: 'http://127.0.0.1:9', token: 'x', maxRetries: 0 }).stats.get(), {
  name: 'NetworkError',
  sent: false,
});
assert.equal(contract.keys.create.path, '/create-key');
assert.match(apiVersion, /^\d{4}-\d{2}-\d{2}$/);
assert.equal(verifyLicenseFile('nothing', { keys: [], hostId: 'build-01' }).verdict, 'token_malformed');
process.stdout.write(`${process.versions.node} ok\n`);
