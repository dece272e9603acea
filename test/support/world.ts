import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Customer } from '../../src/contract/customers.ts';
import type { License } from '../../src/contract/keys/licenses.ts';
import type { Product } from '../../src/contract/products.ts';
import type { AccountId, Instant } from '../../src/contract/scalars.ts';
import type { Scope, TokenKind } from '../../src/contract/scopes.ts';
import { scopesOf } from '../../src/domain/access.ts';
import { newId } from '../../src/domain/ids.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { hashToken, mintToken } from '../../src/domain/token.ts';
import { createApp } from '../../src/server/http/app.ts';
import { trustProxies } from '../../src/server/http/client-address.ts';
import { fetchOf } from '../../src/server/http/in-process.ts';
import { createMemoryCounter, type RateCounter } from '../../src/server/http/rate-counters.ts';
import { createRateLimiter } from '../../src/server/http/rate-limit.ts';
import { listen } from '../../src/server/http/transport/listen.ts';
import { createExactlyOnce } from '../../src/server/idempotency/exactly-once.ts';
import { signCheckpoints } from '../../src/server/jobs/checkpoints.ts';
import { sequenceNow } from '../../src/server/jobs/sequencer.ts';
import { createLog, type LogSink } from '../../src/server/log.ts';
import { type PageOptions, readPageOptions } from '../../src/server/pages/customer/settings.ts';
import { createSigners } from '../../src/service/context.ts';
import { numberEntries } from '../../src/service/numbering.ts';
import { createRecorder } from '../../src/service/record.ts';
import { privatePemOf, privatePems, publicPemOf } from '../domain/examples.ts';
import { type Engine, engines, type Row } from './engines.ts';
import { insertAccount } from './store-fixture.ts';

/** When a world begins, unless it says otherwise. */
export const STARTED_AT = '2026-11-21T10:00:00.000Z' as Instant;

/** The address that requests come from. */
export const PEER = '203.0.113.7';

/** What a token of the test's own may do; kind `scoped` unless it says otherwise. */
export interface Rights {
  readonly account?: 'acme' | 'other';
  readonly kind?: TokenKind;
  readonly scopes?: readonly Scope[];
  readonly productIds?: readonly string[];
  readonly networks?: readonly string[];
  readonly maxIssues?: number;
  readonly rateLimit?: number;
  readonly expiresAt?: string;
}

const roles = {
  admin: { kind: 'admin' },
  'read-only': { kind: 'read-only' },
  client: { kind: 'client' },
  /** The admin of the other account. */
  'other admin': { account: 'other', kind: 'admin' },
} as const satisfies Record<string, Rights>;

/** Who asks: a role, a token of these rights, a token that is known already, or nobody. */
export type As = keyof typeof roles | Rights | { readonly token: string } | 'nobody';

/** Whatever JSON says. */
export type Parsed = ReturnType<typeof JSON.parse>;

export interface Answer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Parsed;
  readonly text: string;
}

/** The service in process: a real store, the whole pipeline, time and randomness in the test's hand. */
export type World = Awaited<ReturnType<typeof createWorld>>;

/** The fields that name one licence. */
export interface Address {
  readonly productId: string;
  readonly licenseKey: string;
}

interface WorldOptions {
  readonly now?: string;
  readonly engine?: Engine | undefined;
  /** Requests per minute and token; without it, more than any test makes. */
  readonly perMinute?: number;
  /** Look-ups of unknown keys per minute and token; null is without limit. */
  readonly lookupsPerMinute?: number | null;
  /** Failed authentications per minute and address. */
  readonly failuresPerMinute?: number;
  /** Where requests are counted; without it, in memory. */
  readonly counter?: RateCounter;
  /** Where requests without a token are counted; without it, with the others. */
  readonly publicCounter?: RateCounter;
  /** Networks of proxies that are trusted. */
  readonly behindProxy?: readonly string[];
  /** Whether webhooks may be sent anywhere. */
  readonly allowPrivateWebhooks?: boolean;
  /** How the page of customers looks. */
  readonly page?: PageOptions;
  /** Milliseconds, by a clock that nobody sets; it stands still unless given. */
  readonly monotonic?: () => number;
  /** Takes the log, as JSON lines. */
  readonly logTo?: LogSink;
}

/** Makes a world with two accounts, acme and other; everyone is of acme who does not say otherwise. */
export async function createWorld({
  engine = engines[0],
  perMinute = 1_000_000,
  lookupsPerMinute,
  failuresPerMinute,
  behindProxy = [],
  allowPrivateWebhooks: allowPrivate = false,
  page = {},
  monotonic = () => 0,
  logTo,
  ...options
}: WorldOptions = {}) {
  if (engine === undefined) throw new Error('there is no engine');
  const database = await engine.createDatabase();
  const { store } = database;
  const random = seededBytes();
  const signerOf = createSigners();
  const record = createRecorder(random);
  let now = (options.now ?? STARTED_AT) as Instant;
  const { counter = createMemoryCounter(() => monotonic() * 1_000), publicCounter = counter } = options;
  // As `serve` does it: on PostgreSQL, which cannot, what is recorded waits in the outbox for `sequence`.
  store.numberInCommit(numberEntries);
  let requests = 0;
  let pageUrl: string | null = 'https://licences.example.com';

  const app = createApp({
    store,
    door: 'http',
    log: await createLog(logTo ? 'json' : 'none', logTo ?? { write: () => {} }),
    limiter: createRateLimiter(counter, {
      requestsPerMinute: perMinute,
      missesPerMinute: lookupsPerMinute,
      failuresPerMinute,
      publicCounter,
    }),
    addressOf: trustProxies(behindProxy),
    signerOf,
    record,
    exactlyOnce: createExactlyOnce(store, random),
    webhooks: { allowPrivate },
    page: { ...readPageOptions(page, () => null), url: () => pageUrl },
    testClock: undefined,
    now: () => now,
    monotonic,
    random,
    newKeyPair: () => {
      const privatePem = privatePemOf(random(32));
      return { privatePem, publicPem: publicPemOf(privatePem) };
    },
    newRequestId: () => {
      requests += 1;
      return `request-${requests}`;
    },
  });

  // Acme is the older of the two.
  const accounts = {
    acme: newId('acc', addSeconds(now, -1), random(10)) as AccountId,
    other: newId('acc', now, random(10)) as AccountId,
  };
  for (const [i, [name, id]] of Object.entries(accounts).entries())
    await insertAccount(store, { id, name, createdAt: now }, privatePems[i]);

  async function mint({ account = 'acme', kind = 'scoped', scopes = [], ...limits }: Rights): Promise<string> {
    const token = mintToken(kind, random(32));
    await store.transaction((repositories) =>
      repositories.tokens.insert({
        ...{ productIds: null, maxIssues: null, now, kind, name: 'made by the test', hash: hashToken(token) },
        ...limits,
        accountId: accounts[account],
        id: newId('tok', now, random(10)),
        scopes: scopesOf(kind, scopes),
        expiresAt: (limits.expiresAt ?? null) as Instant | null,
      }),
    );
    return token;
  }

  const minted = new Map<string, Promise<string>>();

  async function tokenOf(as: As): Promise<string | null> {
    if (as === 'nobody') return null;
    if (typeof as === 'object' && 'token' in as) return as.token;
    const rights: Rights = typeof as === 'string' ? roles[as] : as;
    const name = JSON.stringify(rights);
    const token = minted.get(name) ?? mint(rights);
    minted.set(name, token);
    return token;
  }

  const fetch = (path: string, init: RequestInit): Promise<Response> =>
    fetchOf(app, PEER)(new Request(`http://lkm.test${path}`, init));

  const send = async (path: string, init: RequestInit & { duplex?: 'half' }): Promise<Answer> =>
    readAnswer(await fetch(path, init));

  async function call(
    as: As,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> {
    const token = await tokenOf(as);
    return send(path, {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** Prepares something as the admin, which must succeed. */
  const prepare = async (method: string, path: string, body?: unknown): Promise<Parsed> =>
    bodyOf(await call('admin', method, path, body));

  return {
    store,
    record,
    /** What `openStore` opened. */
    location: database.location,
    accounts,
    /** The token of a caller, made on first use; null for nobody. */
    tokenOf,
    /** Sends JSON and reads the answer. */
    call,
    /** Sends a request as it is; the response is not read yet. */
    fetch,
    /** Sends a request as it is. */
    send,
    /** Every row of every table. */
    async contents(): Promise<Readonly<Record<string, readonly Row[]>>> {
      const found: Record<string, readonly Row[]> = {};
      for (const table of await database.listTables())
        found[table] = sortRows((await database.query(`select * from ${table}`)).map(({ row_id: _, ...row }) => row));
      return found;
    },
    /** Serves it over HTTP as well, until that is closed. */
    listen: () => listen(app, { host: '127.0.0.1', port: 0 }),
    setNow: (instant: string) => {
      now = instant as Instant;
    },
    /** Takes the page of customers away, as where no server runs. */
    withoutPage: () => {
      pageUrl = null;
    },
    product: async (name = 'Editor'): Promise<Product> => (await prepare('POST', '/product', { name })).data,
    /** Creates a key, and answers it. */
    key: async (body: { readonly productId: string; readonly [field: string]: unknown }): Promise<string> =>
      (await prepare('POST', '/create-key', body)).key,
    customer: async (body: { readonly name: string; readonly email?: string } = { name: 'Zoë' }): Promise<Customer> =>
      (await prepare('POST', '/customer', body)).data,
    /** Signs licence files, which makes the hosts devices of the key. */
    activate: async (address: Address, ...hostIds: readonly string[]) => {
      for (const hostId of hostIds) await prepare('POST', '/key/sign', { ...address, hostId, ttl: 3_600 });
    },
    /** The licence as an admin sees it. */
    license: async ({ productId, licenseKey }: Address): Promise<License> => {
      const query = new URLSearchParams({ productId, licenseKey });
      return (await prepare('GET', `/key?${query}`)).data.license;
    },
    /** Numbers what is recorded. */
    sequence: async () => {
      await sequenceNow(store);
      await signCheckpoints(store, store.transaction, { signerOf, now: () => now });
      // Reads of one turn share a snapshot: what is done to the database next would not show.
      await nextTurn();
    },
    /** Changes the database behind the service's back. */
    sql: async (text: string): Promise<void> => {
      await database.query(text);
    },
    /** Makes every statement on the table fail from now on. */
    breakTable: async (table: string) => {
      // A view would go on with the renamed table.
      await database.query(`drop view if exists named_${table}`);
      await database.query(`alter table ${table} rename to ${table}_gone`);
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** The body of an answer, which must be a success. */
export function bodyOf({ status, text, body }: Answer): Parsed {
  if (status >= 300) throw new Error(`the answer was ${status} ${text}`);
  return body;
}

/** Reads an answer to its end. */
export async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const headers = Object.fromEntries(response.headers);
  const isJson = /^application\/json\b/.test(headers['content-type'] ?? '');
  return { status: response.status, headers, body: isJson ? JSON.parse(text) : text || undefined, text };
}

/**
 * Bytes that differ from call to call and are the same in every run. Ids that are made of them in one millisecond sort in
 * the order in which they were made.
 */
function seededBytes(): (length: number) => Uint8Array {
  let calls = 0;
  return (outputLength) => {
    calls += 1;
    const bytes = createHash('shake256', { outputLength }).update(String(calls)).digest();
    if (outputLength === 10) bytes.set([(calls >> 14) & 0x0f, (calls >> 6) & 0xff, calls & 0x3f]);
    return bytes;
  };
}

function sortRows(rows: readonly Row[]): Row[] {
  return rows.map((row) => ({ ...row })).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
