import { hash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AccountId, HostId, Instant, LicenseKey, ProductId } from '../src/contract/scalars.ts';
import { newId } from '../src/domain/ids.ts';
import { signLicenseFile } from '../src/domain/license-file.ts';
import type { IpAddress } from '../src/domain/mask.ts';
import { hashToken } from '../src/domain/token.ts';
import { createRandom } from '../src/service/random.ts';
import { createSigners } from '../src/service/signing-keys.ts';
import { openStore } from '../src/store/open.ts';
import type { Repositories } from '../src/store/store.ts';
import { freshLicense } from './license.ts';

// The yardstick: node:http and the same statements with the same durability, and nothing else. No parsing beyond
// JSON.parse, no checks, no limits, no log, no headers.

const store = await openStore(process.argv[2] ?? '', 0);
const signerOf = createSigners();
const random = createRandom();

interface Input {
  productId: ProductId;
  licenseKey: LicenseKey;
  hostId: HostId;
  ttl: number;
}

async function create({ productId }: Input, token: string, key: string | undefined, body: string): Promise<unknown> {
  const caller = await store.repositories.tokens.findByHash(hashToken(token));
  if (caller === null) return null;
  const { accountId } = caller;
  const now = new Date().toISOString() as Instant;
  return store.transaction(async (rows) => {
    if (key === undefined) return insert(rows, accountId, productId, now);
    await rows.idempotency.claim(accountId, key);
    if ((await rows.idempotency.find(accountId, key)) !== null) return null;
    const answer = await rows.nested(() => insert(rows, accountId, productId, now));
    await rows.idempotency.insert({
      accountId,
      key,
      fingerprintVersion: 1,
      fingerprint: hash('sha256', body),
      state: 'completed',
      method: 'POST',
      path: '/create-key',
      answer: { status: 200, contentType: 'application/json', body: JSON.stringify(answer) },
      createdAt: now,
    });
    return answer;
  });
}

async function insert(rows: Repositories, accountId: AccountId, productId: ProductId, now: Instant): Promise<unknown> {
  const product = await rows.products.find(accountId, productId);
  const license = freshLicense(accountId, (product?.id ?? '') as ProductId, now);
  await rows.keys.insert(license);
  return { code: 0, key: license.key };
}

async function get({ productId, licenseKey }: Input, token: string): Promise<unknown> {
  const caller = await store.repositories.tokens.findByHash(hashToken(token));
  if (caller === null) return null;
  const license = await store.repositories.keys.find(caller.accountId, productId, licenseKey);
  if (license === null) return null;
  const devices = await store.repositories.devices.list(license);
  return { data: { license: { ...license, devices }, customer: null }, code: 0 };
}

async function sign({ productId, licenseKey, hostId, ttl }: Input, token: string): Promise<unknown> {
  const caller = await store.repositories.tokens.findByHash(hashToken(token));
  if (caller === null) return null;
  const now = new Date().toISOString() as Instant;
  const expiresAt = new Date(Date.now() + ttl * 1_000).toISOString() as Instant;
  return store.transaction(async (rows) => {
    const license = await rows.keys.find(caller.accountId, productId, licenseKey);
    if (license === null) return null;
    if (!(await rows.devices.exists(license, hostId)) && (await rows.keys.takeSlot(license, now))) {
      const ipAddress = '127.0.0.1' as IpAddress;
      await rows.devices.insert(license, { id: newId('dev', now, random(10)), hostId, tag: null, ipAddress, now });
    }
    const file = signLicenseFile(await signerOf(rows, caller.accountId), {
      id: newId('fil', now, random(10)),
      issuer: caller.accountId,
      license,
      customer: null,
      hostId,
      now,
      expiresAt,
    });
    return { file };
  });
}

type Handler = (input: Input, token: string, key: string | undefined, body: string) => Promise<unknown>;

const handlers: Record<string, Handler> = {
  '/create-key': create,
  '/key': get,
  '/key/sign': sign,
};

const server = createServer(async (request, response) => {
  const [path = '', query] = (request.url ?? '').split('?');
  const body = query === undefined ? await read(request) : '';
  const input = query === undefined ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(query));
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const key = request.headers['idempotency-key'] as string | undefined;
  const answer = await handlers[path]?.(input, token, key, body);
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
});

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
});
