import { type AnyEndpoint, type InputOf, type ResultOf, reasonsOf } from '../../contract/endpoint.ts';
import type { Reason } from '../../contract/errors.ts';
import { type Contract, listEndpoints } from '../../contract/index.ts';
import type { Caller } from '../../domain/access.ts';
import { listAudit, listCheckpoints } from '../../service/audit.ts';
import { authorizations } from '../../service/authorization.ts';
import type { Context } from '../../service/context.ts';
import { createCustomer, deleteCustomer, getCustomer, listCustomers, updateCustomer } from '../../service/customers.ts';
import { activateKey, deactivateKey, rebindKey, signKey } from '../../service/devices.ts';
import { listEvents } from '../../service/events.ts';
import { blockKey, deleteKey, renewKey, transferKey, unblockKey, updateKey } from '../../service/keys/changes.ts';
import { importKey } from '../../service/keys/import.ts';
import { countIssue, createKey, getKey } from '../../service/keys/keys.ts';
import { listCustomerKeys, listKeys } from '../../service/keys/lists.ts';
import { explainKey } from '../../service/keys/why.ts';
import { exportRevocations } from '../../service/license-files.ts';
import { createVersion, updateVersion } from '../../service/product-versions.ts';
import { createProduct, getProduct, listProducts, updateProduct } from '../../service/products.ts';
import { replayAuthorizations, type StoredSuccess, unlessUnmasked } from '../../service/replay-authorization.ts';
import { checkinKey, checkoutKey, deleteSession, heartbeatKey, listSessions } from '../../service/sessions.ts';
import { listPublicKeys, listSigningKeys, rotateSigningKey } from '../../service/signing-keys.ts';
import { getStats } from '../../service/stats.ts';
import { rotateToken } from '../../service/token-rotation.ts';
import { createToken, getToken, listTokens, revokeToken, showSelf } from '../../service/tokens.ts';
import { listDeliveries, replayWebhook } from '../../service/webhooks/deliveries.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhook,
  testWebhook,
  updateWebhook,
} from '../../service/webhooks/webhooks.ts';

type UseCase<E> = (context: Context, input: InputOf<E>) => Promise<ResultOf<E>>;

type UseCases<C> = { [R in keyof C]: { [N in keyof C[R]]: UseCase<C[R][N]> } };

/** What each endpoint does; one without a use case does not compile. */
const useCases: UseCases<Contract> = {
  keys: {
    create: createKey,
    import: importKey,
    get: getKey,
    list: listKeys,
    why: explainKey,
    activate: activateKey,
    deactivate: deactivateKey,
    rebind: rebindKey,
    sign: signKey,
    checkout: checkoutKey,
    heartbeat: heartbeatKey,
    checkin: checkinKey,
    update: updateKey,
    renew: renewKey,
    transfer: transferKey,
    block: blockKey,
    unblock: unblockKey,
    delete: deleteKey,
  },
  sessions: { list: listSessions, delete: deleteSession },
  customers: {
    list: listCustomers,
    create: createCustomer,
    get: getCustomer,
    update: updateCustomer,
    delete: deleteCustomer,
    keys: listCustomerKeys,
  },
  products: {
    list: listProducts,
    create: createProduct,
    get: getProduct,
    update: updateProduct,
    createVersion,
    updateVersion,
  },
  tokens: {
    list: listTokens,
    get: getToken,
    create: createToken,
    rotate: rotateToken,
    revoke: revokeToken,
    self: showSelf,
  },
  signingKeys: { list: listSigningKeys, rotate: rotateSigningKey, jwks: listPublicKeys },
  revocations: { export: exportRevocations },
  events: { list: listEvents },
  audit: { list: listAudit, checkpoints: listCheckpoints },
  webhooks: {
    create: createWebhook,
    list: listWebhooks,
    get: getWebhook,
    update: updateWebhook,
    delete: deleteWebhook,
    test: testWebhook,
    rotate: rotateWebhook,
    replay: replayWebhook,
    deliveries: listDeliveries,
  },
  stats: { get: getStats },
};

/** An endpoint with its use case. */
export interface Route {
  /** The operation, as it is called everywhere: `keys.create`. */
  readonly name: string;
  readonly endpoint: AnyEndpoint;
  /** Whether it tells the caller that a key exists: look-ups of unknown keys are then limited. */
  readonly looksUpKey: boolean;
  /** How long its response may be kept by whoever gets it, in seconds; 0 is not at all. */
  readonly maxAgeSeconds: number;
  /** `input` has been parsed by the endpoint's schemas, and the payload fits its reply. */
  perform(context: Context, input: unknown): Promise<unknown>;
  /** Why the caller may not make this request, or null. Called before anything is looked up or replayed. */
  authorize(caller: Caller, input: unknown): Reason | null;
  /** Called before a success that was stored for another token is replayed. Throws ApiError when the caller must not have it. */
  authorizeReplay(context: Context, input: unknown, stored: StoredSuccess<unknown>): Promise<void>;
  /** Whether its success counts against the `maxIssues` of the caller's token. */
  readonly issuesKeys: boolean;
}

/** Every endpoint of the contract with its use case. */
export function listRoutes(): Route[] {
  return listEndpoints().map(({ name, endpoint }) => {
    const [resource = '', operation = ''] = name.split('.');
    const perform = (useCases as Record<string, Record<string, Route['perform']>>)[resource]?.[operation];
    const authorize = (authorizations as Record<string, Record<string, Route['authorize']>>)[resource]?.[operation];
    const authorizeReplay = (replayAuthorizations as Record<string, Record<string, Route['authorizeReplay']>>)[
      resource
    ]?.[operation];
    if (perform === undefined || authorize === undefined) throw new Error(`${name} has no use case`);
    return {
      name,
      endpoint,
      looksUpKey: reasonsOf(endpoint).some((reason) => reason === 'licenseNotFound' || reason === 'deviceNotFound'),
      maxAgeSeconds: endpoint.headers?.includes('Cache-Control') ? PUBLIC_MAX_AGE_SECONDS : 0,
      perform,
      authorize,
      authorizeReplay: authorizeReplay ?? unlessUnmasked,
      issuesKeys: authorizeReplay === countIssue,
    };
  });
}

/** A new key, or a revoked file, is known to those who keep responses that soon. */
const PUBLIC_MAX_AGE_SECONDS = 300;
