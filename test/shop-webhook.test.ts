import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Child, lkm, run, start, startListening } from '../faults/process.ts';
import { tempFolder } from './cli/fake-io.ts';
import { freePort } from './support/ports.ts';

const SECRET = 'the secret of the provider';
const running: Child[] = [];

afterEach(async () => {
  for (const child of running.splice(0)) await child.end('SIGKILL');
});

/** A service, and the shop beside it; each can be killed and started again on its port. */
async function openShop() {
  const home = tempFolder();
  const base = { PATH: process.env.PATH, HOME: home };
  const db = join(home, 'lkm.db');
  const inside = (...words: string[]) => run([...lkm, ...words, '--db', db], { env: base });
  await inside('db', 'migrate');
  const productId = await inside('products', 'create', '--name', 'Engine Pro', '-q');
  const scopes = ['license:write', 'customer:write', 'customer:read'].flatMap((scope) => ['--scope', scope]);
  const token = await inside('tokens', 'create', '--kind', 'scoped', ...scopes, '--name', 'shop', '-q');
  const ports = { service: await freePort(), shop: await freePort() };
  const serve = async () => {
    const options = ['--port', String(ports.service), '--json', '--log-format', 'none', '--rate-limit', 'off'];
    return keep(await startListening([...lkm, 'serve', '--db', db, ...options], { env: base }));
  };
  const open = async () => {
    const program = [process.execPath, join(import.meta.dirname, '../examples/shop-webhook.ts')];
    const env = {
      ...{ ...base, LKM_BASE_URL: `http://127.0.0.1:${ports.service}`, LKM_TOKEN: token, PORT: String(ports.shop) },
      ...{ SHOP_SECRET: SECRET, SHOP_PRODUCTS: JSON.stringify({ engine: productId }) },
    };
    const shop = keep(start(program, { env }));
    shop.stdout.setEncoding('utf8').on('data', (text: string) => delivered.push(...text.trimEnd().split('\n')));
    await expect.poll(() => shop.said()).toContain('listening');
    return shop;
  };
  const delivered: string[] = [];
  const send = async (order: object, signature?: string) => {
    const body = JSON.stringify(order);
    const signed = signature ?? createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = { 'x-signature': signed };
    return (await fetch(`http://127.0.0.1:${ports.shop}/`, { method: 'POST', body, headers })).status;
  };
  return { serve, open, send, delivered, keys: async () => (await inside('keys', 'list', '-q')).split('\n') };
}

function keep<C extends Child>(child: C): C {
  running.push(child);
  return child;
}

const order = { orderId: '1042', email: 'ada@ada.example', product: 'engine' };

it('one order that comes 1 000 times at once, while the shop and the service are killed, gets one key', async () => {
  const { serve, open, send, delivered, keys } = await openShop();
  let [service, shop] = [await serve(), await open()];
  let accepted = 0;
  /** As a provider does: again and again until it is accepted. */
  const provide = async () => {
    await expect.poll(() => send(order).catch(() => 0), { timeout: 100_000 }).toBe(200);
    accepted += 1;
  };
  const provided = Array.from({ length: 1_000 }, provide);
  for (const least of [100, 400, 700]) {
    await expect.poll(() => accepted, { timeout: 100_000 }).toBeGreaterThanOrEqual(least);
    await shop.end('SIGKILL');
    if (least > 100) await service.end('SIGKILL');
    if (least > 100) service = await serve();
    shop = await open();
  }
  await Promise.all(provided);
  await service.end('SIGTERM');
  await shop.end('SIGTERM');
  const sold = await keys();
  expect(sold).toHaveLength(1);
  expect(new Set(delivered)).toEqual(new Set([`ada@ada.example ${sold[0]}`]));
});

it('a webhook that is not signed, or names no product, makes nothing; a returning buyer gets another key', async () => {
  const { serve, open, send, keys } = await openShop();
  const service = await serve();
  await open();
  expect(await send(order, 'ab'.repeat(32))).toBe(401);
  expect(await send(order, '')).toBe(401);
  expect(await send({ ...order, product: 'other' })).toBe(422);
  expect(await send(order)).toBe(200);
  expect(await send({ ...order, orderId: '1043' })).toBe(200);
  const closed = once(service.stdout, 'close');
  await service.end('SIGTERM');
  await closed;
  expect(await keys()).toHaveLength(2);
});
