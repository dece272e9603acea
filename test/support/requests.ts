import { type Contract, contract, listEndpoints, type NamedEndpoint } from '../../src/contract/index.ts';
import { exampleOf } from '../../src/contract/openapi/examples.ts';
import { createDeactivationProof, createDeviceKey } from '../../src/license-file.ts';
import { pathWith, type ScenarioRequest } from './scenario.ts';
import { signedBy } from './sessions.ts';
import { type Answer, type As, bodyOf, type Parsed, type World } from './world.ts';

/** The name of an endpoint: `keys.create`. */
export type EndpointName = {
  [R in keyof Contract]: `${R}.${Extract<keyof Contract[R], string>}`;
}[keyof Contract];

/** Ids of the right form that nobody has. */
export const absentIds = {
  productId: 'prod_00000000000000000000000000',
  customerId: 'cus_00000000000000000000000000',
  licenseKey: '00000-00000-00000-00000-00000',
  tokenId: 'tok_00000000000000000000000000',
  sessionId: 'ses_00000000000000000000000000',
  sessionSecret: 'secret',
  nextNonce: 'nonce',
  versionId: 'ver_00000000000000000000000000',
  webhookId: 'whk_00000000000000000000000000',
  planId: 'plan_00000000000000000000000000',
  proof: 'proof',
};

/** One of everything that an account can have: the key is floating, and activated on host-1, the session is of that key. */
export type Belongings = Readonly<Record<keyof typeof absentIds, string>>;

type MakeRequest = (own: Belongings) => ScenarioRequest;

/** An end as that of a key that is issued when a world begins. */
const NEXT_MONTH = '2026-12-21T10:00:00.000Z';

/** The ids in the examples of the contract. */
const exampleIds: Partial<Belongings> = {
  ...exampleOf(contract.keys.get).query,
  ...exampleOf(contract.customers.get).query,
  ...exampleOf(contract.tokens.get).query,
  ...exampleOf(contract.sessions.delete).query,
  ...exampleOf(contract.webhooks.get).query,
  ...exampleOf(contract.plans.get).query,
  versionId: String(exampleOf(contract.products.updateVersion).body?.versionId),
};

/** The example of an endpoint with the ids of an account in place of its own. */
function fromExample({ query, body }: ScenarioRequest, own: Belongings): ScenarioRequest {
  const withOwnIds = (_: string, value: unknown) => {
    const kind = (Object.keys(exampleIds) as (keyof Belongings)[]).find((one) => exampleIds[one] === value);
    return kind === undefined ? value : own[kind];
  };
  return JSON.parse(JSON.stringify({ query, body }), withOwnIds);
}

function signedRequest({ productId, licenseKey, ...session }: Belongings): ScenarioRequest {
  return { body: { productId, licenseKey, ...signedBy(session) } };
}

/** The requests of endpoints whose examples would fail, or leave what a test is about as it is. */
const ownRequests: Readonly<Partial<Record<EndpointName, MakeRequest>>> = {
  'keys.create': ({ productId, customerId }) => ({ body: { productId, customerId } }),
  'keys.import': ({ productId }) => ({ body: { productId, key: 'ACME-0042-0001-7QRS-0000-19XZ' } }),
  'keys.activate': ({ productId, licenseKey }) => ({ body: { productId, licenseKey, hostId: 'host-2' } }),
  'keys.rebind': ({ productId, licenseKey }) => ({
    body: { productId, licenseKey, hostId: 'host-1', newHostId: 'host-2' },
  }),
  'keys.sign': ({ productId, licenseKey }) => ({ body: { productId, licenseKey, hostId: 'host-2', ttl: 3_600 } }),
  'keys.deactivateOffline': ({ productId, licenseKey, proof }) => ({ body: { productId, licenseKey, proof } }),
  'keys.trial': ({ productId, planId }) => ({ body: { productId, planId, hostId: 'host-9' } }),
  'plans.list': ({ productId }) => ({ query: { productId } }),
  'plans.get': ({ productId, planId }) => ({ query: { productId, planId } }),
  'plans.create': ({ productId }) => ({ body: { productId, name: 'Pro yearly', maxActivations: 3 } }),
  'plans.update': ({ planId }) => ({ query: { planId }, body: { maxActivations: 4 } }),
  'keys.heartbeat': signedRequest,
  'keys.checkin': signedRequest,
  'devices.list': ({ productId, customerId }) => ({ query: { productId, customerId } }),
  'sessions.list': ({ productId, licenseKey }) => ({ query: { productId, licenseKey } }),
  'sessions.delete': ({ sessionId, productId }) => ({ query: { sessionId, productId } }),
  'keys.update': ({ productId, licenseKey, customerId }) => ({
    body: { productId, licenseKey, customerId, maxActivations: 7 },
  }),
  'keys.transfer': ({ productId, licenseKey, customerId }) => ({ body: { productId, licenseKey, customerId } }),
  'keys.delete': ({ productId, licenseKey }) => ({ query: { productId, licenseKey, force: 'true' } }),
  'customers.create': () => ({ body: { name: 'Acme', email: 'ops@acme.example' } }),
  'customers.update': ({ customerId }) => ({ query: { customerId }, body: { name: 'Acme' } }),
  'products.create': () => ({ body: { name: 'Server' } }),
  'products.update': ({ productId }) => ({ query: { productId }, body: { name: 'Server', active: true } }),
  'products.createVersion': ({ productId }) => ({ body: { productId, version: '2.1' } }),
  'tokens.create': ({ productId }) => ({
    body: { name: 'new', kind: 'scoped', scopes: ['token:write'], productIds: [productId] },
  }),
  'tokens.import': ({ productId }) => ({
    body: { name: 'old', kind: 'scoped', scopes: ['token:write'], productIds: [productId], hash: 'ab'.repeat(32) },
  }),
  'webhooks.create': () => ({ body: { url: 'https://shop.example.com/new' } }),
  'webhooks.update': ({ webhookId }) => ({ query: { webhookId }, body: { ordered: true } }),
  'webhooks.replay': ({ webhookId }) => ({ body: { webhookId, after: 0 } }),
  'webhooks.deliveries': ({ webhookId }) => ({ query: { webhookId } }),
  'stats.get': () => ({}),
};

/** A request of each endpoint that succeeds. */
export const validRequests = Object.fromEntries(
  listEndpoints().map(({ name, endpoint }) => [
    name,
    ownRequests[name as EndpointName] ??
      // A list without a filter.
      ((own) => (/\.(list|checkpoints)$/.test(name) ? {} : fromExample(exampleOf(endpoint), own))),
  ]),
) as Readonly<Record<EndpointName, MakeRequest>>;

/** Sends the valid request of an endpoint. */
export function ask(
  world: Pick<World, 'call'>,
  as: As,
  { name, endpoint }: NamedEndpoint,
  own: Belongings,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { query, body } = validRequests[name as EndpointName](own);
  return world.call(as, endpoint.method, pathWith(endpoint, query), body, headers);
}

/** Gives an account one of everything. `importedKey` is the key of its licence, which is minted unless given. */
export async function furnish(
  world: Pick<World, 'call'>,
  as: As = 'admin',
  email = 'zoe@example.com',
  importedKey?: string,
): Promise<Belongings> {
  const create = async (path: string, body: unknown): Promise<Parsed> =>
    bodyOf(await world.call(as, 'POST', path, body));
  const productId = (await create('/product', { name: 'Editor' })).data.id;
  const customerId = (await create('/customer', { name: 'Zoë', email })).data.id;
  const floating = { productId, licenseType: 'floating', customerCanSelfReset: true };
  const { key: licenseKey } = await (importedKey === undefined
    ? create('/create-key', { ...floating, customerId })
    : create('/key/import', {
        ...floating,
        key: importedKey,
        customer: { id: customerId },
        expirationDate: NEXT_MONTH,
      }));
  const { privateKey, publicKey } = createDeviceKey();
  const { file } = await create('/key/sign', { productId, licenseKey, hostId: 'host-1', publicKey });
  const proof = createDeactivationProof(file, privateKey);
  const trial = { productId, name: 'Trial', isTrial: true, duration: 'P14D' };
  const planId = (await create('/plan', trial)).data.id;
  const tokenId = (await create('/token', { name: 'spare', kind: 'client' })).data.id;
  const { sessionId, sessionSecret, nextNonce } = await create('/key/checkout', { productId, licenseKey });
  const versionId = (await create('/product/version', { productId, version: '2.0' })).data.id;
  const webhookId = (await create('/webhook', { url: 'https://shop.example.com/hook' })).data.id;
  const ids = { productId, customerId, licenseKey, tokenId, sessionId, sessionSecret, nextNonce };
  return { ...ids, versionId, webhookId, planId, proof };
}
