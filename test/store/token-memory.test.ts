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

/** A memory in front of a look-up, and what makes it forget. */
function remember(findByHash: TokenRepository['findByHash']) {
  const memory = createTokenMemory();
  const { findByHash: find } = memory.inFrontOf({ ...tokenRepository(noDatabase), findByHash });
  const change = () =>
    memory.during(
      async () => memory.noteChange(),
      (work) => work(null),
    );
  return { find, change, memory };
}

const noDatabase = undefined as never;

describe('a memory of tokens', () => {
  it('reads a token once, until one is changed', async () => {
    const reads: string[] = [];
    const { find, change, memory } = remember(async (hash) => {
      reads.push(hash);
      return token(hash);
    });
    expect(await find('a')).toEqual(token('a'));
    expect(await find('a')).toEqual(token('a'));
    await memory.during(
      async () => {},
      (work) => work(null),
    );
    expect(await find('b')).toEqual(token('b'));
    expect(await find('a')).toEqual(token('a'));
    expect(reads).toEqual(['a', 'b']);
    await change();
    await find('a');
    expect(reads).toEqual(['a', 'b', 'a']);
  });

  it('reads an unknown token each time', async () => {
    let reads = 0;
    const { find } = remember(async () => {
      reads += 1;
      return null;
    });
    expect([await find('a'), await find('a'), reads]).toEqual([null, null, 2]);
  });

  it('does not keep what was read before the commit of a change', async () => {
    const waiting: ((found: Found) => void)[] = [];
    const { find, change } = remember(() => new Promise((resolve) => waiting.push(resolve)));
    const early = find('a');
    await change();
    waiting.shift()?.(token('before'));
    expect(await early).toEqual(token('before'));
    const late = find('a');
    waiting.shift()?.(token('after'));
    expect(await late).toEqual(token('after'));
  });

  it('forgets after the commit of a change, not before it', async () => {
    let name = 'before';
    const { find, memory } = remember(async () => token(name));
    await find('a');
    await memory.during(
      async () => memory.noteChange(),
      async (work) => {
        await work(null);
        expect(await find('a')).toEqual(token('before'));
        name = 'after';
      },
    );
    expect(await find('a')).toEqual(token('after'));
  });

  it('does not grow with the number of tokens', async () => {
    let reads = 0;
    const { find } = remember(async (hash) => {
      reads += 1;
      return token(hash);
    });
    for (let index = 0; index <= 1_000; index += 1) await find(`t${index}`);
    await find('t1000');
    expect(reads).toBe(1_001);
    await find('t0');
    expect(reads).toBe(1_002);
  });
});

describe.each(engines)('a token on $name', (engine) => {
  const it = testsOn(engine);

  const add = { kind: 'admin', name: 'ci', scopes: [], productIds: null, expiresAt: null } as const;

  it('is found as revoked from the moment on in which that is committed', async ({ store }) => {
    await store.transaction(({ tokens }) =>
      tokens.insert({ ...add, accountId, id: 'tok_1', hash: 'h', maxIssues: null, now }),
    );
    const find = async () => (await store.repositories.tokens.findByHash('h'))?.revokedAt;
    expect(await find()).toBeNull();
    const revoked = store.transaction(async ({ tokens }) => {
      await tokens.revoke(accountId, 'tok_1' as TokenId, now);
      return find();
    });
    expect(await revoked).toBeNull();
    expect(await find()).toBe(now);
  });

  it('is found as it was after its revocation was undone, and as revoked after the next one', async ({ store }) => {
    await store.transaction(({ tokens }) =>
      tokens.insert({ ...add, accountId, id: 'tok_1', hash: 'h', maxIssues: 2, now }),
    );
    const find = async () => (await store.repositories.tokens.findByHash('h'))?.revokedAt;
    const revoke = (fails: boolean) =>
      store.transaction(async ({ tokens }) => {
        await tokens.revoke(accountId, 'tok_1' as TokenId, now);
        if (fails) throw new Error('undone');
      });
    await expect(revoke(true)).rejects.toThrow('undone');
    expect(await find()).toBeNull();
    await revoke(false);
    expect(await find()).toBe(now);
  });
});
