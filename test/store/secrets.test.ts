import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { rekeyDatabase } from '../../src/operator/index.ts';
import { openInstance } from '../../src/server/index.ts';
import {
  createDataKey,
  type DataKey,
  type MasterKey,
  secretsUnder,
  unwrapDataKey,
  wrapDataKey,
} from '../../src/store/secret-box.ts';
import { openStore } from '../../src/store/store.ts';
import { engines, newPlace } from '../support/engines.ts';
import { query } from '../support/postgres.ts';

const masterOf = (byte: number): MasterKey => new Uint8Array(32).fill(byte);
const [one, two] = [masterOf(1), masterOf(2)];

describe('a sealed secret', () => {
  const key = createDataKey(randomBytes);
  const { sealSecret, openSecret } = secretsUnder(key, randomBytes);
  const openUnder = (other: DataKey) => secretsUnder(other, randomBytes).openSecret(sealed, 'table acc row');
  const sealed = sealSecret('the secret', 'table acc row');

  it('is opened in its place, by its key', () => {
    expect(openSecret(sealed, 'table acc row')).toBe('the secret');
    expect(sealed).not.toContain(Buffer.from('the secret').toString('base64url').slice(0, 8));
    expect(sealSecret('the secret', 'table acc row')).not.toBe(sealed);
  });

  it.each<[string, () => string]>([
    ['another row', () => openSecret(sealed, 'table acc other')],
    ['another key', () => openUnder(createDataKey(randomBytes))],
    ['a key of the same name', () => openUnder({ ...key, bytes: randomBytes(32) })],
    ['a plain text in its place', () => openSecret('the secret', 'table acc row')],
    ['a text that was cut off', () => openSecret(sealed.slice(0, 40), 'table acc row')],
  ])('is not opened: %s', (_, open) => {
    expect(open).toThrow(/sealed|cut off|authenticate/);
  });

  it('is not opened when any bit of it has changed', () => {
    const [start, id, text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => openSecret(`${start}.${id}.${changed.toString('base64url')}`, 'table acc row')).toThrow();
    }
  });
});

describe('a data key', () => {
  it('is opened by its master key, and by no other one', () => {
    const key = createDataKey(randomBytes);
    const wrapped = wrapDataKey(one, key, randomBytes);
    expect(unwrapDataKey(one, wrapped)).toEqual({ id: key.id, bytes: Buffer.from(key.bytes) });
    expect(unwrapDataKey(two, wrapped)).toBeNull();
    expect(unwrapDataKey(one, { ...wrapped, id: 'other' })).toBeNull();
    expect(JSON.stringify(wrapped)).not.toContain(Buffer.from(key.bytes).toString('base64url').slice(0, 12));
  });
});

/** Uses a database as a service does: makes a session and a licence file, and returns the secret of the session. */
async function use(db: string, masterKey: MasterKey | null): Promise<string> {
  const instance = await openInstance({ db, masterKey });
  const call = async (path: string, body: unknown) => {
    const response = await instance.fetch(
      new Request(`http://127.0.0.1${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${instance.ownerToken}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
    expect(response.status, path).toBeLessThan(300);
    return JSON.parse(await response.text());
  };
  try {
    const productId = (await call('/product', { name: 'Editor' })).data.id;
    const { key: licenseKey } = await call('/create-key', { productId, licenseType: 'floating' });
    await call('/key/sign', { productId, licenseKey, hostId: 'h' });
    const webhook = await call('/webhook', { url: 'https://shop.example.com/hook' });
    await call('/webhook/rotate', { webhookId: webhook.data.id });
    return (await call('/key/checkout', { productId, licenseKey })).sessionSecret;
  } finally {
    await instance.close();
  }
}

/** Everything that is kept of signing keys, sessions, and webhooks with two secrets. */
async function kept(db: string): Promise<readonly string[]> {
  const store = await openStore(db);
  await store.close();
  const others = ['secret from sessions', 'secret from webhooks', 'previous_secret from webhooks'];
  const rows = await runSql(
    db,
    `select private_pem as kept from signing_keys ${others.map((one) => `union all select ${one}`).join(' ')}`,
  );
  return rows.map((row) => String(row.kept));
}

async function runSql(db: string, sql: string): Promise<Readonly<Record<string, unknown>>[]> {
  if (db.startsWith('postgres')) return query(db, sql);
  const database = new DatabaseSync(db);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

describe.each(engines)('secrets on $name', ({ name }) => {
  it('are sealed in a new database with a master key, which opens it from then on', async () => {
    await using place = await newPlace(name);
    const secret = await use(place.location, one);
    const texts = await kept(place.location);
    expect(texts).toHaveLength(4);
    for (const text of texts) expect(text).toMatch(/^lkm1\.[\w-]{12}\.[\w-]+$/);
    if (name === 'SQLite') {
      const bytes = readFileSync(place.location).toString('latin1');
      expect(bytes).not.toContain('PRIVATE KEY');
      expect(bytes).not.toContain(secret);
    }
    await use(place.location, one);
    await expect(use(place.location, two)).rejects.toThrow('the master key is not that of this database');
    await expect(use(place.location, null)).rejects.toThrow('there is no master key');
  });

  it('are plain without one, and a master key is not taken for theirs', async () => {
    await using place = await newPlace(name);
    const secret = await use(place.location, null);
    expect(await kept(place.location)).toContain(secret);
    await expect(use(place.location, one)).rejects.toThrow('the secrets in this database are plain');
  });

  it('go from plain to sealed, to another master key and back, and are used all the while', async () => {
    await using place = await newPlace(name);
    await use(place.location, null);
    const plain = await kept(place.location);
    expect(await rekeyDatabase(place.location, { from: null, to: one })).toEqual({ kept: 'sealed', written: 4 });
    const sealed = await kept(place.location);
    await use(place.location, one);
    expect(await rekeyDatabase(place.location, { from: one, to: two })).toEqual({ kept: 'sealed', written: 0 });
    expect(await kept(place.location)).toEqual(expect.arrayContaining([...sealed]));
    await use(place.location, two);
    await expect(rekeyDatabase(place.location, { from: one, to: null })).rejects.toThrow('the master key is not that');
    await expect(rekeyDatabase(place.location, { from: null, to: one })).rejects.toThrow('there is no master key');
    expect(await rekeyDatabase(place.location, { from: two, to: null })).toMatchObject({ kept: 'plain' });
    expect(await kept(place.location)).toEqual(expect.arrayContaining([...plain]));
    await use(place.location, null);
  });

  it('are not sealed, or made plain, beside a server, which would go on as before', async () => {
    await using place = await newPlace(name);
    const instance = await openInstance({ db: place.location });
    const message = expect.stringMatching(/is in use/);
    await expect(rekeyDatabase(place.location, { from: null, to: one })).rejects.toMatchObject({
      name: 'StartupError',
      message,
    });
    await instance.close();
    expect(await rekeyDatabase(place.location, { from: null, to: one })).toMatchObject({ kept: 'sealed' });
  }, 20_000);

  it('are not used when a row was changed behind the service', async () => {
    await using place = await newPlace(name);
    await use(place.location, one);
    const other = await newPlace('SQLite');
    await use(other.location, null);
    const [pem = ''] = await kept(other.location);
    await other[Symbol.asyncDispose]();
    await runSql(place.location, `update signing_keys set private_pem = '${pem}'`);
    await expect(use(place.location, one)).rejects.toThrow(/key\/sign|not sealed/);
  });
});
