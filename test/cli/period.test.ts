import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOW } from './fake-io.ts';
import { openShop } from './shop.ts';

const DAY = 86_400_000;

/** A shop: its owner has issued a key 30, 10 and 3 days ago, and its token `Shop` one 2 days ago. */
async function openHistory() {
  const shop = await openShop();
  const { cwd, names, answer, at } = shop;
  const issue = (days: number, more = '') => answer(`keys create${more}`, { now: NOW - days * DAY });
  names.KEY = await issue(30);
  for (const days of [10, 3]) await issue(days);
  const token = await answer('tokens create --kind admin --name Shop -q', { now: NOW - 2.5 * DAY });
  writeFileSync(join(cwd, 'token'), token, { mode: 0o600 });
  await issue(2, ' --token-file token');
  const blocked = await at('keys block KEY --token-file token', { now: NOW - DAY });
  expect(blocked.code).toBe(0);
  const types = async (line: string) =>
    (await answer(`${line} --fields type --format tsv`)).split('\n').filter(Boolean);
  const operations = async (line: string) =>
    (await answer(`${line} --fields operation --format tsv`)).split('\n').filter(Boolean);
  return { ...shop, types, operations };
}

const created = 'license.created';

describe('a period', () => {
  it.each([
    ['--since 7d --type license.created', [created, created]],
    ['--since 11d --until 4d --type license.created', [created]],
    ['--since 2026-11-18 --until 2026-11-18 --type license.created', [created]],
    ['--by shop', [created, 'license.blocked']],
    ['--by Shop --since 36h', ['license.blocked']],
    ['--by Shop --last 1', ['license.blocked']],
    ['--by Shop --limit 1', [created]],
    ['--until 2026-10-01', []],
  ])('of events is %s', async (options, expected) => {
    const { types } = await openHistory();
    expect(await types(`events list ${options}`)).toEqual(expected);
  });

  it.each([
    ['--since 7d --type keys.create', ['keys.create', 'keys.create']],
    ['--by Shop', ['keys.create', 'keys.block']],
    ['--by Shop --type keys.block', ['keys.block']],
    ['--type keys.create --last 2', ['keys.create', 'keys.create']],
    ['--since 36h', ['keys.block']],
  ])('of the audit log is %s', async (options, expected) => {
    const { operations } = await openHistory();
    expect(await operations(`audit list ${options}`)).toEqual(expected);
  });

  it('of a key is that of its history', async () => {
    const { types } = await openHistory();
    expect(await types('keys history KEY')).toEqual([created, 'license.blocked']);
    expect(await types('keys history KEY --since 7d')).toEqual(['license.blocked']);
    expect(await types('keys history KEY --until 7d')).toEqual([created]);
    expect(await types('keys history KEY --by Shop')).toEqual(['license.blocked']);
    expect(await types('keys history KEY --type license.created')).toEqual([created]);
  });

  it('of issued keys is counted by token, product and plan', async () => {
    const { answer, at } = await openHistory();
    await answer('plans create --name Pro');
    await answer('keys create --plan Pro', { now: NOW - DAY });
    const counted = async (line: string) => (await answer(`stats ${line} --format tsv`)).split('\n');
    expect(await counted('--by token')).toEqual(['owner of the database\t2', 'Shop\t1']);
    expect(await counted('--by token --since 60d')).toEqual(['owner of the database\t4', 'Shop\t1']);
    expect(await counted('--by product')).toEqual(['Engine\t3']);
    expect(await counted('--by plan')).toEqual(['no plan\t2', 'Pro\t1']);
    expect(await answer('stats --by plan --since 2026-11-21')).toBe('');
    expect((await at('stats --since 7d')).code).toBe(2);
  });

  it('says when nobody is called so, and what is no time', async () => {
    const { cwd, at, answer } = await openHistory();
    expect(await at('events list --by Nobody')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining("called 'Nobody'"),
    });
    expect((await at('audit list --since soon')).code).toBe(2);
    expect((await at('events list --by Shop --type ping')).stderr).toContain('nothing fits');
    const token = await answer('tokens create --kind scoped --scope event:read --name feed -q');
    writeFileSync(join(cwd, 'feed'), token, { mode: 0o600 });
    const unnamed = await at('events list --by Shop --token-file feed');
    expect(unnamed).toMatchObject({ code: 5, stderr: expect.stringContaining('token:read') });
    expect((await at('events list --last 2 --limit 2')).code).toBe(2);
  });
});
