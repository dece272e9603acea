import { createPrivateKey, hash, randomUUID, sign as signBytes } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';

// The yardstick: node:http and node:sqlite with the least code that does the same work on the same tables with the same
// durable commits. It shares no code with lkm. Statements are prepared once and bound by position; the mutations that
// wait in one turn of the event loop share a commit, and what they did is written to the record in it, numbered and
// chained. It checks no input, has no limits and writes no log.

const database = new DatabaseSync(process.argv[2] ?? '');
database.exec(`
  PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=16000;
  PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16384;
  CREATE TABLE IF NOT EXISTS bare_responses (
    account_id TEXT, key TEXT, fingerprint TEXT, status INTEGER, body TEXT, created_at TEXT, PRIMARY KEY (account_id, key)
  );
`);

type Row = Readonly<Record<string, string | number | null>>;

const sql = database.prepare.bind(database);
const findToken = sql('SELECT account_id, id, kind, scopes FROM tokens WHERE hash = ?');
const findProduct = sql('SELECT active FROM products WHERE account_id = ? AND id = ?');
// By the index of keys, which begins with their last four characters.
const findLicense = sql(
  'SELECT id, license_key AS key, product_id AS productId, max_activations AS maxActivations, expires_at AS expirationDate, ' +
    'features, is_trial, allowed_hosts, license_type AS licenseType, max_sessions AS maxConcurrentSessions, ' +
    'heartbeat_seconds AS heartbeatInterval, lease_seconds AS sessionLeaseDuration, customer_can_self_reset, ' +
    'vendor_disabled, version_id AS versionId, created_at AS createdAt, updated_at AS updatedAt ' +
    'FROM licenses WHERE account_id = ?1 AND lower(substr(license_key, length(license_key) - 3)) = ' +
    'lower(substr(?2, length(?2) - 3)) AND license_key = ?2 AND product_id = ?3',
);
const listDevices = sql(
  "SELECT id, host_id AS hostId, ifnull(tag, 'No tag') AS deviceTag, ip_address AS ipAddress, created_at AS activationTime " +
    'FROM devices WHERE account_id = ? AND license_id = ?',
);
const findDevice = sql('SELECT id FROM devices WHERE account_id = ? AND license_id = ? AND host_id = ?');
const takeSlot = sql(
  'UPDATE licenses SET activations = activations + 1, updated_at = ? WHERE account_id = ? AND id = ? ' +
    'AND (max_activations IS NULL OR activations < max_activations)',
);
const insertDevice = sql(
  'INSERT INTO devices (account_id, license_id, host_id, id, tag, ip_address, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
);
const insertLicense = sql(
  'INSERT INTO licenses (account_id, id, product_id, license_key, customer_id, max_activations, activations, expires_at, ' +
    'features, is_trial, allowed_hosts, license_type, max_sessions, heartbeat_seconds, lease_seconds, ' +
    'customer_can_self_reset, vendor_disabled, version_id, created_at, updated_at) ' +
    "VALUES (?, ?, ?, ?, NULL, NULL, 0, ?, '{}', 0, NULL, 'node-locked', NULL, 300, 900, 0, 0, NULL, ?, ?)",
);
const findResponse = sql('SELECT * FROM bare_responses WHERE account_id = ? AND key = ?');
const insertResponse = sql('INSERT INTO bare_responses VALUES (?, ?, ?, 200, ?, ?)');
const insertFile = sql(
  'INSERT INTO license_files (account_id, id, license_id, host_id, kid, signed_at, ends_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
);
const insertWords = sql('INSERT INTO license_words (account_id, license_id, host_id, words) VALUES (?, ?, ?, ?)');
const insertAudit = sql('INSERT INTO audit (account_id, seq, operation, content, hash) VALUES (?, ?, ?, ?, ?)');
const insertEvent = sql('INSERT INTO events (account_id, seq, type, subject_id, content) VALUES (?, ?, ?, ?, ?)');
const begin = sql('BEGIN IMMEDIATE');
const commit = sql('COMMIT');

let waiting: { work(): object; done(value: object): void }[] = [];

/** Runs `work` in the commit that all mutations of this turn share; resolves once that is durable. */
function inCommit(work: () => object): Promise<object> {
  return new Promise((done) => {
    if (waiting.push({ work, done }) === 1) setImmediate(commitAll);
  });
}

function commitAll(): void {
  const batch = waiting;
  waiting = [];
  begin.run();
  const values = batch.map(({ work }) => work());
  commit.run();
  for (const [index, { done }] of batch.entries()) done(values[index] as object);
}

// Hexadecimal digits do here: nobody has to guess them. Node.js keeps random UUIDs in store.
const digits = (length: number): string => randomUUID().replaceAll('-', '').slice(-length);

/** Five sections of five. */
const newKey = (): string =>
  digits(25)
    .toUpperCase()
    .replaceAll(/.{5}(?=.)/g, '$&-');

/** Ordered by time, as long as those of lkm. */
const newId = (prefix: string): string => `${prefix}_${Date.now().toString(32).padStart(10, '0')}${digits(16)}`;

// The database has one account.
const last = sql('SELECT audit_seq, event_seq, audit_hash FROM record_heads').get() as Row | undefined;
const head = {
  audit: Number(last?.audit_seq ?? 0),
  event: Number(last?.event_seq ?? 0),
  hash: String(last?.audit_hash ?? ''),
};

/** Writes what was done to the audit log, and what subscribers are told of it to the events. */
function record(accountId: string, operation: string, at: string, licenseId: string, events: Record<string, object>) {
  const about = {
    at,
    actor: { type: 'token', id: 'tok' },
    address: '127.0.0.1',
    resource: { type: 'license', id: licenseId },
  };
  head.audit += 1;
  const content = JSON.stringify({ ...about, seq: head.audit, id: newId('aud'), operation, outcome: 'done', events });
  head.hash = hash('sha256', head.hash + content);
  insertAudit.run(accountId, head.audit, operation, content, head.hash);
  for (const [type, data] of Object.entries(events)) {
    head.event += 1;
    const event = JSON.stringify({ ...about, seq: head.event, id: newId('evt'), type, data });
    insertEvent.run(accountId, head.event, type, licenseId, event);
  }
}

interface Input {
  readonly productId: string;
  readonly licenseKey: string;
  readonly hostId: string;
  readonly ttl: number;
}

function create(accountId: string, { productId }: Input): object {
  if (findProduct.get(accountId, productId)?.active !== 1) return { message: 'Product not found or inactive', code: 1 };
  const now = new Date();
  const expires = new Date(now);
  expires.setUTCMonth(expires.getUTCMonth() + 1);
  const key = newKey();
  const at = now.toISOString();
  const id = newId('lic');
  insertLicense.run(accountId, id, productId, key, expires.toISOString(), at, at);
  record(accountId, 'keys.create', at, id, { 'license.created': { productId, key: `*****-${key.slice(-5)}` } });
  return { code: 0, key };
}

function createOnce(accountId: string, input: Input, key: string, body: string): object {
  const stored = findResponse.get(accountId, key) as Row | undefined;
  if (stored !== undefined) return JSON.parse(String(stored.body));
  const response = create(accountId, input);
  const fingerprint = hash('sha256', `POST /create-key ${body}`);
  insertResponse.run(accountId, key, fingerprint, JSON.stringify(response), new Date().toISOString());
  return response;
}

function get(accountId: string, { productId, licenseKey }: Input): object {
  const row = findLicense.get(accountId, licenseKey, productId) as Row | undefined;
  if (row === undefined) return { message: 'License not found', code: 1 };
  const { features, is_trial, allowed_hosts, customer_can_self_reset, vendor_disabled, ...shown } = row;
  const devices = listDevices.all(accountId, row.id ?? '');
  const license = {
    ...shown,
    activations: devices.length,
    activated: devices.length > 0 && vendor_disabled === 0,
    metadata: { features: JSON.parse(String(features)), is_trial: is_trial === 1 },
    allowedHosts: allowed_hosts === null ? null : JSON.parse(String(allowed_hosts)),
    customerCanSelfReset: customer_can_self_reset === 1,
    vendorDisabled: vendor_disabled === 1,
    devices,
    version: null,
  };
  return { data: { license, customer: null }, code: 0 };
}

const signingKey = sql('SELECT kid, private_pem FROM signing_keys ORDER BY created_at DESC LIMIT 1').get() as Row;
const privateKey = createPrivateKey(String(signingKey.private_pem));

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function sign(accountId: string, { productId, licenseKey, hostId, ttl }: Input): object {
  const row = findLicense.get(accountId, licenseKey, productId) as Row | undefined;
  if (row === undefined) return { message: 'License not found', code: 1 };
  const now = new Date();
  const at = now.toISOString();
  const licenseId = String(row.id);
  const events: Record<string, object> = {};
  if (findDevice.get(accountId, licenseId, hostId) === undefined) {
    if (takeSlot.run(at, accountId, licenseId).changes === 0) return { message: 'Activation limit reached', code: 3 };
    insertDevice.run(accountId, licenseId, hostId, newId('dev'), null, '127.0.0.1', at);
    const words = hostId.toLowerCase().replaceAll(/(?:^|[^a-z0-9]+)(?=[a-z0-9])/g, '  ');
    insertWords.run(accountId, licenseId, hostId, words);
    events['device.activated'] = { licenseId, productId, hostId };
  }
  const fileId = newId('fil');
  const seconds = Math.floor(now.getTime() / 1_000);
  const ids = { iss: accountId, jti: fileId, sub: licenseId, key: licenseKey, productId, machine: hostId };
  const times = { iat: seconds, nbf: seconds, exp: seconds + ttl, licenseExp: null };
  const terms = { type: 'offline', features: {}, is_trial: false, licenseType: row.licenseType, customer: null, v: 1 };
  const signed = `${part({ alg: 'EdDSA', typ: 'lic+jwt', kid: signingKey.kid })}.${part({ ...ids, ...times, ...terms })}`;
  const token = `${signed}.${signBytes(null, Buffer.from(signed), privateKey).toString('base64url')}`;
  const endsAt = new Date((seconds + ttl) * 1_000).toISOString();
  insertFile.run(accountId, fileId, licenseId, hostId, signingKey.kid ?? '', at, endsAt);
  events['license.signed'] = { productId, hostId, fileId, expiresAt: endsAt };
  record(accountId, 'keys.sign', at, licenseId, events);
  return { file: JSON.stringify({ format: 'lkm-lic/1', licenseToken: token, signedKey: licenseKey, signedDate: at }) };
}

function respond(path: string, accountId: string, input: Input, key: string | undefined, body: string) {
  if (path === '/key') return get(accountId, input);
  if (path === '/key/sign') return inCommit(() => sign(accountId, input));
  return inCommit(() => (key === undefined ? create(accountId, input) : createOnce(accountId, input, key, body)));
}

const server = createServer(async (request, response) => {
  const [path = '', query] = (request.url ?? '').split('?');
  const body = query === undefined ? await read(request) : '';
  const input = query === undefined ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(query));
  const secret = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const token = findToken.get(hash('sha256', secret)) as Row | undefined;
  const key = request.headers['idempotency-key'] as string | undefined;
  const value =
    token === undefined
      ? { message: 'Invalid access token', code: 1 }
      : await respond(path, String(token.account_id), input, key, body);
  response
    .writeHead('code' in value && value.code !== 0 ? 400 : 200, { 'Content-Type': 'application/json' })
    .end(JSON.stringify(value));
});

function read(request: IncomingMessage): Promise<string> {
  const parts: string[] = [];
  request.setEncoding('utf8').on('data', (chunk: string) => void parts.push(chunk));
  return new Promise((resolve) => request.on('end', () => resolve(parts.join(''))));
}

server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ url, pid: process.pid })}\n`);
});
