import { describe, expect, it } from 'vitest';
import type { AccountId, TokenId } from '../../src/contract/scalars.ts';
import { type TokenRepository, tokenRepository } from '../../src/store/tables/tokens.ts';
import { createTokenMemory } from '../../src/store/token-memory.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { accountId } from '../support/store-fixture.ts';

type Found = Awaited<ReturnType<TokenRepository['findByHash']>>;

const token = (id: string): NonNullable<Found> => ({
  accountId: 'acc_1' as AccountId,
  id: id as TokenId,
  name: 'ci',
  kind: 'admin',
  scopes: [],
  productIds: null,
  networks: null,
  maxIssues: null,
  issued: null,
  rateLimit: null,
  expiresAt: null,
  revokedAt: null,
  lastUsedOn: null,
  createdAt: now,
});

/** A memory in front of a look-up, which tokens that look-up has read, and what changes one. */
function remember(findByHash: TokenRepository['findByHash'] = async (hash) => token(hash)) {
  const memory = createTokenMemory();
  const reads: string[] = [];
  const { findByHash: find } = memory.inFrontOf({
    ...tokenRepository(undefined as never),
    findByHash(hash) {
      reads.push(hash);
      return findByHash(hash);
    },
  });
  const change = () => {
    memory.noteChange();
    memory.forgetChanged();
  };
  return { find, change, memory, reads };
}

describe('a memory of tokens', () => {
  it('does not keep what was read before the commit of a change', async () => {
    const waiting: ((found: Found) => void)[] = [];
    const { find, change } = remember(() => new Promise((resolve) => waiting.push(resolve)));
    const early = find('a');
    change();
    waiting.shift()?.(token('before'));
    expect(await early).toEqual(token('before'));
    const late = find('a');
    waiting.shift()?.(token('after'));
    expect(await late).toEqual(token('after'));
  });
});

describe.each(engines)('a token on $name', (engine) => {
  const it = testsOn(engine);

  it('is found as revoked from the commit on, also after a revocation that was undone', async ({ store }) => {
    const add = { kind: 'admin', name: 'ci', scopes: [], productIds: null, expiresAt: null, maxIssues: null } as const;
    await store.transaction(({ tokens }) => tokens.insert({ ...add, accountId, id: 'tok_1', hash: 'h', now }));
    const find = async () => (await store.repositories.tokens.findByHash('h'))?.revokedAt;
    /** What the token is found as while its revocation is not committed yet. */
    const revoke = (fails: boolean) =>
      store.transaction(async ({ tokens }) => {
        await tokens.revoke(accountId, 'tok_1' as TokenId, now);
        if (fails) throw new Error('undone');
        return find();
      });
    expect(await find()).toBeNull();
    await expect(revoke(true)).rejects.toThrow('undone');
    expect(await find()).toBeNull();
    expect(await revoke(false)).toBeNull();
    expect(await find()).toBe(now);
  });
});
