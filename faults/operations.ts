import type { Intent } from './ledger.ts';
import type { MarkedTable, Row, Snapshot } from './snapshot.ts';

/** What an intent is aimed at, by name: a licence key, a host, a customer. */
export type Target = Readonly<Record<string, string>>;

/** An HTTP request without its address. */
export interface AuthorizedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body: string | null;
}

/** Performs another operation first, and returns its intent. */
type Make = (operation: Operation, target?: Target) => Promise<Intent>;

/** The members of answers that identify what was made. */
interface Body {
  readonly key?: string;
  readonly sessionId?: string;
  readonly data?: { readonly id?: string; readonly updatedAt?: string };
}

/** A mutation, and how its effect is recognised in the database. */
export interface Operation {
  readonly name: string;
  readonly status: 200 | 201;
  /** Makes what the operation needs. The operation removes or changes the effect of `consumes`. */
  prepare?(make: Make): Promise<{ readonly target: Target; readonly consumes?: Intent }>;
  /** `mark` identifies the intent, and is part of what the request makes. */
  ask(mark: string, target: Target, productId: string): AuthorizedRequest;
  /** How often it has happened. */
  effects(rows: Snapshot, mark: string, target: Target): number;
  /** Whether the database holds what the answer says. */
  agrees?(rows: Snapshot, mark: string, body: Body): boolean;
  /** Refusals that are in order, as `status/code`. */
  readonly refusals?: readonly string[];
}

const bodyOf = (intent: Intent): Body => JSON.parse(intent.answers[0]?.body ?? '{}');

/** The licence key that an intent was answered. */
export const keyOf = (intent: Intent): string => String(bodyOf(intent).key);

/** The id of what an intent has made. */
export const idOf = (intent: Intent): string => String(bodyOf(intent).data?.id);

/** Slots of every key that is made with a limit. */
export const SLOTS = 3;

const post = (path: string, body: object): AuthorizedRequest => ({ method: 'POST', path, body: JSON.stringify(body) });

/** An operation that makes a row of a table, which its mark is in. */
const makes = <T extends MarkedTable>(
  table: T,
  operation: Pick<Operation, 'name' | 'status' | 'ask' | 'prepare'>,
  isAsAnswered?: (row: Row<T>, body: Body, rows: Snapshot, mark: string) => boolean,
): Operation => ({
  ...operation,
  effects: (rows, mark) => rows[table].get(mark)?.length ?? 0,
  agrees(rows, mark, body) {
    const row = rows[table].get(mark)?.[0];
    return isAsAnswered === undefined || (row !== undefined && isAsAnswered(row as Row<T>, body, rows, mark));
  },
});

const creating = (
  name: string,
  path: string,
  table: 'customers' | 'products' | 'tokens',
  more: object = {},
): Operation =>
  makes(table, { name, status: 201, ask: (mark) => post(path, { name: mark, ...more }) }, (row, body) => {
    return row.id === body.data?.id;
  });

const licenceWith = (fields: object): Operation =>
  makes(
    'licenses',
    {
      name: 'create-key',
      status: 200,
      ask: (mark, _target, productId) =>
        post('/create-key', { productId, ...fields, metadata: { features: { intent: mark } } }),
    },
    (row, body) => row.license_key === body.key,
  );

/** Makes a key with `slots` activation slots. */
export const createKeyOf = (slots: number): Operation => licenceWith({ usesPerKey: String(slots) });

export const createKey = createKeyOf(SLOTS);

/** Makes a key with a new customer. `agrees` checks that the key has this customer. */
const createKeyForNewCustomer: Operation = {
  ...makes(
    'licenses',
    {
      name: 'create-key with newCustomer',
      status: 200,
      ask: (mark, _target, productId) =>
        post('/create-key', {
          productId,
          newCustomer: { name: mark, email: `${mark}@example.test` },
          metadata: { features: { intent: mark } },
        }),
    },
    (row, body, { customers }, mark) =>
      row.license_key === body.key && row.customer_id === customers.get(mark)?.[0]?.id,
  ),
  effects: ({ licenses, customers }, mark) =>
    Math.max(licenses.get(mark)?.length ?? 0, customers.get(mark)?.length ?? 0),
};

/** Signs for a host that is named after the intent. */
const signKey = makes('devices', {
  name: 'key/sign',
  status: 200,
  prepare: async (make) => ({ target: { licenseKey: keyOf(await make(createKey)) } }),
  ask: (mark, { licenseKey }, productId) => post('/key/sign', { productId, licenseKey, hostId: mark, ttl: 86_400 }),
});

/** Signs a key that other clients sign too, so that some of them are refused. */
export const signSharedKey: Operation = { ...signKey, refusals: ['403/3'] };

const deactivateKey: Operation = {
  name: 'deactivate-key',
  status: 200,
  async prepare(make) {
    const licenseKey = keyOf(await make(createKey));
    const signed = await make(signKey, { licenseKey });
    return { target: { licenseKey, hostId: signed.mark }, consumes: signed };
  },
  ask: (_mark, { licenseKey, hostId }, productId) => post('/deactivate-key', { productId, licenseKey, hostId }),
  effects: ({ devices }, _mark, { hostId = '' }) => (devices.has(hostId) ? 0 : 1),
};

/** Longer than a scenario runs, so that no session ends before the check. */
const LEASE_SECONDS = 86_400;

const checkoutKey = makes(
  'sessions',
  {
    name: 'key/checkout',
    status: 200,
    prepare: async (make) => {
      const created = await make(
        licenceWith({ licenseType: 'floating', maxConcurrentSessions: 5, sessionLeaseDuration: LEASE_SECONDS }),
      );
      return { target: { licenseKey: keyOf(created) } };
    },
    ask: (mark, { licenseKey }, productId) => post('/key/checkout', { productId, licenseKey, userIdentifier: mark }),
  },
  (row, body) => row.id === body.sessionId,
);

export const createCustomer = creating('customer create', '/customer', 'customers');
const createProduct = creating('product create', '/product', 'products');
const createToken = creating('token create', '/token', 'tokens', { kind: 'client' });

const made = (intent: Intent): Target => ({ id: idOf(intent), mark: intent.mark });

const deleteCustomer: Operation = {
  name: 'customer delete',
  status: 200,
  async prepare(make) {
    const created = await make(createCustomer);
    return { target: made(created), consumes: created };
  },
  ask: (_mark, { id }) => ({ method: 'DELETE', path: `/customer/by-id?customerId=${id}`, body: null }),
  effects: ({ customers }, _mark, { mark = '' }) => (customers.has(mark) ? 0 : 1),
};

const updateProduct: Operation = {
  name: 'product update',
  status: 200,
  prepare: async (make) => ({ target: made(await make(createProduct)) }),
  ask: (mark, target) => ({
    method: 'PUT',
    path: `/product/by-id?productId=${target.id}`,
    body: JSON.stringify({ name: `${target.mark}/${mark}` }),
  }),
  effects: ({ products }, mark, target) =>
    (products.get(target.mark ?? '') ?? []).filter(({ name }) => name.endsWith(`/${mark}`)).length,
  agrees: ({ products }, _mark, { data }) =>
    [...products.values()].flat().find(({ id }) => id === data?.id)?.updated_at === data?.updatedAt,
};

const revokeToken: Operation = {
  name: 'token revoke',
  status: 200,
  prepare: async (make) => ({ target: made(await make(createToken)) }),
  ask: (_mark, { id }) => ({ method: 'DELETE', path: `/token/by-id?tokenId=${id}`, body: null }),
  effects: ({ tokens }, _mark, { mark = '' }) => (tokens.get(mark)?.[0]?.revoked_at == null ? 0 : 1),
};

/** The operations that clients send under faults. */
export const operations: readonly Operation[] = [
  createKey,
  createKeyForNewCustomer,
  signKey,
  deactivateKey,
  checkoutKey,
  createCustomer,
  deleteCustomer,
  createProduct,
  updateProduct,
  createToken,
  revokeToken,
];

/** Goes through the operations again and again. */
export const operationAt = (index: number): Operation => operations[index % operations.length] as Operation;
