import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountId, Instant, TokenId } from '../../src/contract/scalars.ts';
import { type Scope, scopes, type TokenKind, tokenKinds } from '../../src/contract/scopes.ts';
import {
  allows,
  anonymous,
  type Caller,
  canAccessProduct,
  mayCall,
  mayFree,
  mayMint,
  scopesOf,
  seesSecrets,
  seesWholeLicense,
  type WantedToken,
} from '../../src/domain/access.ts';

describe('scopesOf', () => {
  it.each<[TokenKind, readonly Scope[]]>([
    ['admin', scopes],
    ['read-only', ['license:read', 'customer:read', 'product:read', 'event:read', 'webhook:read', 'audit:read']],
    ['client', ['license:read', 'license:activate', 'license:sign']],
    ['scoped', ['license:write', 'audit:read']],
  ])('gives kind %s its scopes', (kind, held) => {
    expect(scopesOf(kind, ['audit:read', 'license:write', 'audit:read'])).toEqual(held);
  });

  it('gives a scoped token nothing that was not given', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...scopes)), (given) => {
        expect(new Set(scopesOf('scoped', given))).toEqual(new Set(given));
      }),
    );
  });
});

describe('allows', () => {
  it.each<[TokenKind, Scope | 'none', boolean]>([
    ['admin', 'token:write', true],
    ['read-only', 'license:read', true],
    ['read-only', 'license:write', false],
    ['read-only', 'token:read', false],
    ['client', 'license:activate', true],
    ['client', 'license:read', true],
    ['client', 'license:write', false],
    ['client', 'none', true],
    ['scoped', 'none', true],
  ])('answers for kind %s and %s: %s', (kind, scope, answer) => {
    expect(allows(caller(kind), scope)).toBe(answer);
  });
});

describe('mayCall', () => {
  it.each<[TokenKind, boolean, boolean]>([
    ['admin', false, true],
    ['read-only', false, true],
    ['read-only', true, true],
    ['client', false, false],
    ['client', true, true],
  ])(
    'answers for kind %s, which holds the scope, on an endpoint that is open to clients (%s): %s',
    (kind, open, answer) => {
      expect(mayCall(caller(kind), { scope: 'license:read', openToClients: open })).toBe(answer);
    },
  );

  it('asks for the scope as well', () => {
    expect(mayCall(caller('client'), { scope: 'license:write', openToClients: true })).toBe(false);
  });
});

describe('a token that is shipped inside an application', () => {
  it.each<[TokenKind, boolean]>([
    ['admin', true],
    ['read-only', true],
    ['scoped', true],
    ['client', false],
  ])('is of kind client alone: %s sees and frees other devices: %s', (kind, answer) => {
    expect(seesWholeLicense(caller(kind))).toBe(answer);
    expect(mayFree(caller(kind), null)).toBe(answer);
    expect(mayFree(caller(kind), 'host-1')).toBe(true);
  });
});

describe('seesSecrets', () => {
  it.each<[TokenKind, readonly Scope[], boolean]>([
    ['admin', [], true],
    ['read-only', [], false],
    ['client', [], false],
    ['scoped', ['license:read', 'license:write'], false],
    ['scoped', ['license:reveal'], true],
  ])('answers for kind %s with %j: %s', (kind, given, answer) => {
    expect(seesSecrets(caller(kind, given))).toBe(answer);
  });
});

it('lets an admin see secrets by its kind alone', () => {
  expect(seesSecrets({ ...caller('admin'), scopes: new Set() })).toBe(true);
});

describe('anonymous', () => {
  it('holds no scope, can access no product and sees no secret', () => {
    expect(scopes.filter((scope) => allows(anonymous, scope))).toEqual([]);
    expect([canAccessProduct(anonymous, 'prod_a'), seesSecrets(anonymous)]).toEqual([false, false]);
  });
});

describe('canAccessProduct', () => {
  it.each([
    [null, true],
    [['prod_a', 'prod_b'], true],
    [['prod_b'], false],
    [[], false],
  ])('answers for prod_a and a caller of the products %j: %s', (productIds, answer) => {
    expect(canAccessProduct(caller('admin', [], productIds), 'prod_a')).toBe(answer);
  });
});

/** The rights of a token that may do nothing. */
const nothing: WantedToken = {
  kind: 'scoped',
  scopes: [],
  productIds: null,
  networks: null,
  rateLimit: null,
  expiresAt: null,
};

describe('mayMint', () => {
  const writer = ['token:write', 'license:read'] as const;

  it.each<[string, Caller, readonly Scope[], readonly string[] | null, boolean]>([
    ['admin may make an admin', caller('admin'), scopes, null, true],
    ['a scoped caller may pass on a part', caller('scoped', writer), ['license:read'], null, true],
    ['a scoped caller may not add a scope', caller('scoped', writer), ['license:read', 'license:write'], null, false],
    ['a caller of all products may narrow them', caller('admin'), [], ['prod_a'], true],
    ['a caller of some products may pass on a part', caller('admin', [], ['prod_a', 'prod_b']), [], ['prod_a'], true],
    ['a caller of some products may not add one', caller('admin', [], ['prod_a']), [], ['prod_a', 'prod_b'], false],
    ['a caller of some products may not give all', caller('admin', [], ['prod_a']), [], null, false],
  ])('%s', (_, by, wanted, productIds, answer) => {
    expect(mayMint(by, { ...nothing, scopes: wanted, productIds })).toBe(answer);
  });

  it.each<[readonly Scope[], boolean]>([
    [['license:write'], false],
    [['license:read', 'license:write'], false],
    [['license:read', 'token:write'], true],
  ])('lets a caller that may create only so many keys pass on %j: %s', (wanted, answer) => {
    expect(mayMint({ ...caller('admin'), maxIssues: 5 }, { ...nothing, scopes: wanted })).toBe(answer);
  });

  it.each<[string | null, string | null, boolean]>([
    [null, '2027-01-01T00:00:00.000Z', true],
    ['2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z', true],
    ['2027-01-01T00:00:00.000Z', '2027-01-01T00:00:00.001Z', false],
    ['2027-01-01T00:00:00.000Z', null, false],
  ])('lets a caller that expires at %s make a token that expires at %s: %s', (own, wanted, answer) => {
    const by = { ...caller('admin'), expiresAt: own as Instant | null };
    expect(mayMint(by, { ...nothing, expiresAt: wanted as Instant | null })).toBe(answer);
  });

  it.each<[readonly string[] | null, readonly string[] | null, boolean]>([
    [null, null, true],
    [null, ['10.0.0.0/8'], true],
    [['10.0.0.0/8'], null, false],
    [['10.0.0.0/8'], ['10.1.0.0/16', '10.2.3.4'], true],
    [['10.0.0.0/8'], ['10.0.0.0/7'], false],
    [['10.0.0.0/8'], ['10.1.0.0/16', '11.0.0.1'], false],
    [['2001:db8::/32', '10.0.0.0/8'], ['2001:db8:1::/48'], true],
    [['0.0.0.0/0'], ['::/0'], false],
    [['0.0.0.0/0'], ['::ffff:10.0.0.1'], true],
  ])('lets a caller from %j make a token for %j: %s', (networks, wanted, answer) => {
    expect(mayMint({ ...caller('admin'), networks }, { ...nothing, networks: wanted })).toBe(answer);
  });

  it.each<[number | null, number | null, boolean]>([
    [null, null, true],
    [null, 60, true],
    [60, 60, true],
    [60, 61, false],
    [60, null, false],
  ])('lets a caller with a rate limit of %s make a token with one of %s: %s', (rateLimit, wanted, answer) => {
    expect(mayMint({ ...caller('admin'), rateLimit }, { ...nothing, rateLimit: wanted })).toBe(answer);
  });

  it('lets nobody but an admin make an admin, whatever scopes it holds', () => {
    const wanted = { ...nothing, kind: 'admin', scopes } as const;
    expect([mayMint(caller('scoped', scopes), wanted), mayMint(caller('admin'), wanted)]).toEqual([false, true]);
  });

  it('never lets a token do what its maker may not', () => {
    const given = fc.uniqueArray(fc.constantFrom(...scopes));
    const products = fc.option(fc.uniqueArray(fc.constantFrom('prod_a', 'prod_b', 'prod_c')));
    const someone = fc.tuple(fc.constantFrom(...tokenKinds), given, products).map((parts) => caller(...parts));
    fc.assert(
      fc.property(someone, someone, (maker, made) => {
        const granted = mayMint(maker, {
          ...nothing,
          kind: made.kind,
          scopes: [...made.scopes],
          productIds: made.productIds && [...made.productIds],
        });
        const kindKept = made.kind !== 'admin' || maker.kind === 'admin';
        const scopesKept = scopes.every((scope) => !allows(made, scope) || allows(maker, scope));
        const productsKept = ['prod_a', 'prod_b', 'prod_c', 'prod_d'].every(
          (id) => !canAccessProduct(made, id) || canAccessProduct(maker, id),
        );
        expect(granted).toBe(kindKept && scopesKept && productsKept);
      }),
    );
  });
});

function caller(kind: TokenKind, given: readonly Scope[] = [], productIds: readonly string[] | null = null): Caller {
  return {
    accountId: 'acc_1' as AccountId,
    tokenId: 'tok_1' as TokenId,
    kind,
    scopes: new Set(scopesOf(kind, given)),
    productIds: productIds && new Set(productIds),
    networks: null,
    maxIssues: null,
    rateLimit: null,
    expiresAt: null,
  };
}
