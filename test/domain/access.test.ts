import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountId, Instant, TokenId } from '../../src/contract/scalars.ts';
import { type Scope, scopes, type TokenKind, tokenKinds } from '../../src/contract/scopes.ts';
import {
  allows,
  type Caller,
  canAccessProduct,
  mayMint,
  scopesOf,
  unrestricted,
  type WantedToken,
} from '../../src/domain/access.ts';

const caller = (
  kind: TokenKind,
  given: readonly Scope[] = [],
  productIds: readonly string[] | null = null,
): Caller => ({
  accountId: 'acc_1' as AccountId,
  tokenId: 'tok_1' as TokenId,
  kind,
  scopes: new Set(scopesOf(kind, given)),
  ...unrestricted,
  productIds: productIds && new Set(productIds),
});

describe('a token is made', () => {
  /** May do nothing. */
  const nothing: WantedToken = {
    kind: 'scoped',
    scopes: [],
    productIds: null,
    networks: null,
    rateLimit: null,
    expiresAt: null,
  };
  const admin = caller('admin');
  const soon = '2027-01-01T00:00:00.000Z' as Instant;
  const later = '2027-01-01T00:00:00.001Z' as Instant;
  const net = (...networks: string[]) => ({ ...admin, networks });

  it.each<[string, Caller, Partial<WantedToken>, boolean]>([
    ['an admin by an admin', admin, { kind: 'admin', scopes }, true],
    ['an admin by another one that has every scope', caller('scoped', scopes), { kind: 'admin', scopes }, false],
    ['keys by a caller that may create only so many', { ...admin, maxIssues: 5 }, { scopes: ['license:write'] }, false],
    ['others by such a caller', { ...admin, maxIssues: 5 }, { scopes: ['license:read', 'token:write'] }, true],
    ['with an end by one without', admin, { expiresAt: soon }, true],
    ['with the same end', { ...admin, expiresAt: soon }, { expiresAt: soon }, true],
    ['with a later end', { ...admin, expiresAt: soon }, { expiresAt: later }, false],
    ['without an end by one that ends', { ...admin, expiresAt: soon }, {}, false],
    ['with a rate limit by one without', admin, { rateLimit: 60 }, true],
    ['with the same rate limit', { ...admin, rateLimit: 60 }, { rateLimit: 60 }, true],
    ['with a higher rate limit', { ...admin, rateLimit: 60 }, { rateLimit: 61 }, false],
    ['without a rate limit by one with', { ...admin, rateLimit: 60 }, {}, false],
    ['for a network by one of any', admin, { networks: ['10.0.0.0/8'] }, true],
    ['for any network by one of some', net('10.0.0.0/8'), {}, false],
    ['for networks inside', net('10.0.0.0/8'), { networks: ['10.1.0.0/16', '10.2.3.4'] }, true],
    ['for a wider network', net('10.0.0.0/8'), { networks: ['10.0.0.0/7'] }, false],
    ['for one inside and one outside', net('10.0.0.0/8'), { networks: ['10.1.0.0/16', '11.0.0.1'] }, false],
    ['for one inside the first of two', net('2001:db8::/32', '10.0.0.0/8'), { networks: ['2001:db8:1::/48'] }, true],
    ['for IPv6 by one of IPv4', net('0.0.0.0/0'), { networks: ['::/0'] }, false],
    ['for IPv4 written as IPv6', net('0.0.0.0/0'), { networks: ['::ffff:10.0.0.1'] }, true],
  ])('%s', (_, by, wanted, answer) => {
    expect(mayMint(by, { ...nothing, ...wanted })).toBe(answer);
  });

  it('never with a kind, a scope or a product that its maker has not', () => {
    const given = fc.uniqueArray(fc.constantFrom(...scopes));
    const products = fc.option(fc.uniqueArray(fc.constantFrom('prod_a', 'prod_b', 'prod_c')));
    const someone = fc.tuple(fc.constantFrom(...tokenKinds), given, products).map((parts) => caller(...parts));
    fc.assert(
      fc.property(someone, someone, (maker, made) => {
        const productIds = made.productIds && [...made.productIds];
        const granted = mayMint(maker, { ...nothing, kind: made.kind, scopes: [...made.scopes], productIds });
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
