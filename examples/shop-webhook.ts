import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, createClient } from 'lkm';

// Takes the signed webhook of a payment provider, issues a key for the order, and answers.
//
//   LKM_BASE_URL=… LKM_TOKEN=… SHOP_SECRET=… SHOP_PRODUCTS='{"engine":"prod_…"}' PORT=8080 npx node examples/shop-webhook.ts
//
// The provider sends {"orderId", "email", "product"} with the HMAC-SHA256 of the body, in hex, in X-Signature, and sends it again
// until it gets a 2xx. The order is the reference of the key, so each repetition gets the same key, whatever died in between. This
// program keeps nothing: what it could not do is answered 503, and is done when the provider asks again. The token needs
// license:write, customer:write and customer:read.

const { SHOP_SECRET = '', SHOP_PRODUCTS = '{}', PORT = '8080', LKM_BASE_URL = '', LKM_TOKEN } = process.env;
if (SHOP_SECRET === '') throw new Error('SHOP_SECRET is empty: anybody could order');
const products = new Map<string, string>(Object.entries(JSON.parse(SHOP_PRODUCTS)));
// A provider waits some seconds, and repeats by itself.
const client = createClient({ baseUrl: LKM_BASE_URL, token: LKM_TOKEN, timeoutMs: 4_000, maxRetries: 0 });

const MAX_BYTES = 64 * 1_024;

const server = createServer(async (request, response) => {
  const answer = (status: number, message: string) => response.writeHead(status).end(`${message}\n`);
  const body = await read(request).catch(() => null);
  if (body === null) return answer(400, 'no body, or too large a one');
  if (!isSigned(body, String(request.headers['x-signature'] ?? ''))) return answer(401, 'not signed with the secret');
  try {
    const { orderId, email, product } = JSON.parse(body.toString()) as Record<string, string>;
    const productId = products.get(product ?? '');
    if (!orderId || !email || !productId) return answer(422, 'orderId, email or a known product is missing');
    deliver(email, await issue(`order-${orderId}`, email, productId));
    return answer(200, 'issued');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    // A refusal stays one: asking again would change nothing.
    return answer(error instanceof ApiError && error.status < 500 && error.status !== 429 ? 422 : 503, 'not issued');
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.error(`listening on ${(server.address() as AddressInfo).port}`));

async function issue(reference: string, email: string, productId: string): Promise<string> {
  const order = { productId, reference, ifAbsent: true } as const;
  try {
    return (await client.keys.create({ ...order, newCustomer: { name: email, email } })).key;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'emailTaken') throw error;
    const { items } = await client.customers.list({ email });
    const customer = items.find((one) => one.email?.toLowerCase() === email.toLowerCase());
    if (customer === undefined) throw error;
    return (await client.keys.create({ ...order, customerId: customer.id })).key;
  }
}

/** Sends the key to the buyer: once for each webhook, since the one before may have been cut off before this line. */
function deliver(email: string, key: string): void {
  console.log(`${email} ${key}`);
}

function isSigned(body: Buffer, signature: string): boolean {
  const expected = createHmac('sha256', SHOP_SECRET).update(body).digest();
  const given = Buffer.from(signature, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
