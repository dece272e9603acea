import type { Intent } from './ledger.ts';
import type { Snapshot } from './snapshot.ts';

/** What an intent is aimed at, by name: a licence key, a host, a customer. */
export type Target = Readonly<Record<string, string>>;

/** An HTTP request without its address. */
export interface AuthorizedRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body: string | null;
}

/** Performs another operation first, and answers its intent. */
export type Make = (operation: Operation, target?: Target) => Promise<Intent>;

/** A mutating endpoint, and how its effect is recognised in the database. */
export interface Operation {
  readonly name: string;
  readonly status: 200 | 201;
  /** Makes what must be there first. The effect of `consumes` is gone, or changed, once this one has happened. */
  prepare?(make: Make): Promise<{ readonly target: Target; readonly consumes?: Intent }>;
  /** `mark` is the intent's own, and ends up in what it makes. */
  ask(mark: string, target: Target, productId: string): AuthorizedRequest;
  /** How often it has happened. */
  effects(rows: Snapshot, mark: string, target: Target): number;
  /** Whether the database holds what the answer says. */
  agrees?(rows: Snapshot, mark: string, body: Record<string, unknown>): boolean;
  /** Refusals that are in order, as `status/code`. */
  readonly refusals?: readonly string[];
}

const post = (path: string, body: object): AuthorizedRequest => ({ method: 'POST', path, body: JSON.stringify(body) });

const idIn = (body: Record<string, unknown>) => (body.data as { id?: string } | undefined)?.id;

const bodyOf = (intent: Intent): Record<string, unknown> =>
  JSON.parse(intent.answers[0]?.body ?? '{}') as Record<string, unknown>;

/** The licence key that an intent was answered. */
export const keyOf = (intent: Intent): string => String(bodyOf(intent).key);

/** Slots of every key that is made with a limit. */
export const SLOTS = 3;

/** Licence keys with a customer of their own; whether both were made in one piece shows in the row. */
const createKeyForNewCustomer: Operation = {
  name: 'create-key with newCustomer',
  status: 200,
  ask: (mark, _target, productId) =>
    post('/create-key', {
      productId,
      newCustomer: { name: mark, email: `${mark}@example.test` },
      metadata: { features: { intent: mark } },
    }),
  effects: ({ licenses, customers }, mark) =>
    Math.max(licenses.get(mark)?.length ?? 0, customers.get(mark)?.length ?? 0),
  agrees: ({ licenses, customers }, mark, body) => {
    const license = licenses.get(mark)?.[0];
    return license?.license_key === body.key && license?.customer_id === customers.get(mark)?.[0]?.id;
  },
};

const licenseMaker = (name: string, fields: object): Operation => ({
  name,
  status: 200,
  ask: (mark, _target, productId) =>
    post('/create-key', { productId, ...fields, metadata: { features: { intent: mark } } }),
  effects: ({ licenses }, mark) => licenses.get(mark)?.length ?? 0,
  agrees: ({ licenses }, mark, body) => licenses.get(mark)?.[0]?.license_key === body.key,
});

/** Makes a key with `slots` activation slots. */
export const createKeyOf = (slots: number): Operation => licenseMaker('create-key', { usesPerKey: String(slots) });

export const createKey = createKeyOf(SLOTS);

const createFloatingKey = licenseMaker('create-key', { licenseType: 'floating', maxConcurrentSessions: 5 });

/** Signs for a host that is named after the intent. */
export const signKey: Operation = {
  name: 'key/sign',
  status: 200,
  prepare: async (make) => ({ target: { licenseKey: keyOf(await make(createKey)) } }),
  ask: (mark, { licenseKey }, productId) => post('/key/sign', { productId, licenseKey, hostId: mark, ttl: 86_400 }),
  effects: ({ devices }, mark) => devices.get(mark)?.length ?? 0,
};

/** The same on a key that others sign too: those who come late are refused. */
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

const checkoutKey: Operation = {
  name: 'key/checkout',
  status: 200,
  prepare: async (make) => ({ target: { licenseKey: keyOf(await make(createFloatingKey)) } }),
  ask: (mark, { licenseKey }, productId) => post('/key/checkout', { productId, licenseKey, userIdentifier: mark }),
  effects: ({ sessions }, mark) => sessions.get(mark)?.length ?? 0,
  agrees: ({ sessions }, mark, body) => sessions.get(mark)?.[0]?.id === body.sessionId,
};

const createCustomer: Operation = {
  name: 'customer create',
  status: 201,
  ask: (mark) => post('/customer', { name: mark }),
  effects: ({ customers }, mark) => customers.get(mark)?.length ?? 0,
  agrees: ({ customers }, mark, body) => customers.get(mark)?.[0]?.id === idIn(body),
};

const deleteCustomer: Operation = {
  name: 'customer delete',
  status: 200,
  async prepare(make) {
    const created = await make(createCustomer);
    return { target: { customerId: String(idIn(bodyOf(created))), mark: created.mark }, consumes: created };
  },
  ask: (_mark, { customerId }) => ({
    method: 'DELETE',
    path: `/customer/by-id?customerId=${customerId}`,
    body: null,
  }),
  effects: ({ customers }, _mark, target) => (customers.has(target.mark ?? '') ? 0 : 1),
};

const createProduct: Operation = {
  name: 'product create',
  status: 201,
  ask: (mark) => post('/product', { name: mark }),
  effects: ({ products }, mark) => products.get(mark)?.length ?? 0,
  agrees: ({ products }, mark, body) => products.get(mark)?.[0]?.id === idIn(body),
};

const updateProduct: Operation = {
  name: 'product update',
  status: 200,
  async prepare(make) {
    const created = await make(createProduct);
    return { target: { productId: String(idIn(bodyOf(created))), mark: created.mark } };
  },
  ask: (mark, target) => ({
    method: 'PUT',
    path: `/product/by-id?productId=${target.productId}`,
    body: JSON.stringify({ name: `${target.mark}/${mark}` }),
  }),
  effects: ({ products }, mark, target) =>
    (products.get(target.mark ?? '') ?? []).filter(({ name }) => name.endsWith(`/${mark}`)).length,
  agrees: ({ products }, _mark, body) =>
    [...products.values()].flat().find(({ id }) => id === idIn(body))?.updated_at ===
    (body.data as { updatedAt?: string }).updatedAt,
};

const createToken: Operation = {
  name: 'token create',
  status: 201,
  ask: (mark) => post('/token', { name: mark, kind: 'client' }),
  effects: ({ tokens }, mark) => tokens.get(mark)?.length ?? 0,
  agrees: ({ tokens }, mark, body) => tokens.get(mark)?.[0]?.id === idIn(body),
};

const revokeToken: Operation = {
  name: 'token revoke',
  status: 200,
  async prepare(make) {
    const created = await make(createToken);
    return { target: { tokenId: String(idIn(bodyOf(created))), mark: created.mark } };
  },
  ask: (_mark, { tokenId }) => ({ method: 'DELETE', path: `/token/by-id?tokenId=${tokenId}`, body: null }),
  effects: ({ tokens }, _mark, target) => (tokens.get(target.mark ?? '')?.[0]?.revoked_at == null ? 0 : 1),
};

/** Every mutating endpoint. */
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
