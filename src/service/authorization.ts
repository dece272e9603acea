import type { InputOf } from '../contract/endpoint.ts';
import type { Reason } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import {
  type Caller,
  canAccessProduct,
  mayFree,
  mayMint,
  scopesOf,
  seesSecrets,
  seesWholeLicense,
} from '../domain/access.ts';

/**
 * Whether a caller may make this request: null, or why not. Depends on the caller's token and the request alone, never
 * on the account's data, and is called before anything is looked up. The scope of the endpoint was checked before.
 */
export type Authorize<E> = (caller: Caller, input: InputOf<E>) => Reason | null;

type Authorizations<C> = { readonly [R in keyof C]: { readonly [N in keyof C[R]]: Authorize<C[R][N]> } };

const anyone = (): null => null;

/** For what is of all products: a token that is limited to some of them does not get it. */
const ofWholeAccount = ({ productIds }: Caller): Reason | null => (productIds === null ? null : 'scopeMissing');

const ofAllThatIsSent = (
  caller: Caller,
  { reveal = false }: { readonly reveal?: boolean | undefined },
): Reason | null => (reveal && !seesSecrets(caller) ? 'scopeMissing' : ofWholeAccount(caller));

/** A product that the token is not for is refused as one that does not exist. */
const onProduct =
  (reason: Reason) =>
  (caller: Caller, { productId }: { readonly productId: string }): Reason | null =>
    canAccessProduct(caller, productId) ? null : reason;

/** Every operation; one without an entry does not compile. Decision 0027. */
export const authorizations: Authorizations<Contract> = {
  keys: {
    create: onProduct('productUnavailable'),
    import: onProduct('productNotFound'),
    // Without a product, that of the key is looked at once it is known. A reference is the vendor's: whoever has the
    // application must not try others.
    get: (caller, { productId, reference }) =>
      (productId === undefined ? null : onProduct('licenseNotFound')(caller, { productId })) ??
      (reference === undefined || seesWholeLicense(caller) ? null : 'scopeMissing'),
    // The lists of a token that is limited to some products are narrowed down to these.
    list: anyone,
    // A `client` token has to name a device, and frees no other.
    deactivate: (caller, input) =>
      onProduct('deviceNotFound')(caller, input) ?? (mayFree(caller, input.hostId ?? null) ? null : 'invalidParams'),
    activate: onProduct('licenseNotFound'),
    rebind: onProduct('licenseNotFound'),
    sign: onProduct('licenseNotFound'),
    checkout: onProduct('licenseNotFound'),
    update: onProduct('licenseNotFound'),
    renew: onProduct('licenseNotFound'),
    transfer: onProduct('licenseNotFound'),
    block: onProduct('licenseNotFound'),
    unblock: onProduct('licenseNotFound'),
    delete: onProduct('licenseNotFound'),
    heartbeat: onProduct('licenseNotFound'),
    checkin: onProduct('licenseNotFound'),
    // Only what it could learn by asking for its own device.
    why: (caller, input) =>
      onProduct('licenseNotFound')(caller, input) ??
      (input.hostId !== undefined || seesWholeLicense(caller) ? null : 'invalidParams'),
  },
  sessions: {
    // Lists only what is of its products.
    list: anyone,
    // A token that is limited to products has to say which of them the session is of.
    delete: (caller, { productId }) =>
      productId === undefined
        ? caller.productIds === null
          ? null
          : 'invalidParams'
        : onProduct('sessionNotFound')(caller, { productId }),
  },
  customers: {
    // Those of a token that is limited to some products are the customers that have keys of these.
    list: anyone,
    // Without a key, its maker would not see it: it comes with its first key, as `newCustomer`.
    create: ofWholeAccount,
    get: anyone,
    update: anyone,
    delete: anyone,
    keys: anyone,
  },
  products: {
    list: anyone,
    // The maker could not use a product that its token is not for.
    create: (caller) => (caller.productIds === null ? null : 'scopeMissing'),
    get: onProduct('productNotFound'),
    update: onProduct('productNotFound'),
    createVersion: onProduct('productNotFound'),
    updateVersion: (caller, { productId }) => {
      if (productId === undefined) return caller.productIds === null ? null : 'scopeMissing';
      return onProduct('versionNotFound')(caller, { productId });
    },
  },
  tokens: {
    // Those of a token that is limited to some products are the tokens of these.
    list: anyone,
    get: anyone,
    create: (caller, { kind, scopes = [], productIds = null, networks = null, rateLimit, expiresAt }) => {
      const wanted = {
        kind,
        scopes: scopesOf(kind, scopes),
        productIds,
        networks,
        // What is not said follows the maker.
        rateLimit: rateLimit ?? caller.rateLimit,
        expiresAt: expiresAt === undefined ? caller.expiresAt : expiresAt,
      };
      return mayMint(caller, wanted) ? null : 'scopeMissing';
    },
    // These depend on the token that they are about.
    rotate: anyone,
    revoke: anyone,
    self: anyone,
  },
  signingKeys: {
    list: anyone,
    // The key is that of the account, whatever products the token is for.
    rotate: ({ kind, productIds }) => (kind === 'admin' && productIds === null ? null : 'scopeMissing'),
    jwks: anyone,
  },
  revocations: { export: anyone },
  events: { list: ofWholeAccount },
  audit: { list: ofWholeAccount, checkpoints: ofWholeAccount },
  webhooks: {
    // Whoever does not see keys must not have them sent.
    create: ofAllThatIsSent,
    list: ofWholeAccount,
    get: ofWholeAccount,
    update: ofAllThatIsSent,
    delete: ofWholeAccount,
    test: ofWholeAccount,
    rotate: ofWholeAccount,
    replay: ofWholeAccount,
    deliveries: ofWholeAccount,
  },
  stats: { get: anyone },
};
