import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { answers, row, scenarios } from '../support/scenario.ts';
import { addVersion, shownLicense } from '../support/shop.ts';
import type { Parsed, World } from '../support/world.ts';

/** Keys by what they are, oldest first, two days between them; `editor` and `viewer` are products. */
interface Shop {
  readonly editor: string;
  readonly viewer: string;
  readonly ada: string;
  readonly keys: Readonly<Record<Name, string>>;
}

const names = ['plain', 'full', 'floating', 'ended', 'blocked', 'viewed'] as const;
type Name = (typeof names)[number];

const day = (number: number) => `2026-11-${String(number).padStart(2, '0')}T10:00:00.000Z`;

/** When the lists are asked for. */
const NOW = day(20);

async function openShop(world: World): Promise<Shop> {
  world.setNow(day(1));
  const editor = (await world.product('Editor')).id;
  const viewer = (await world.product('Viewer')).id;
  const ada = (await world.customer({ name: 'Ada Engines Ltd', email: 'it@ada.example' })).id;
  const keys: Record<string, string> = {};
  const add = async (name: Name, at: number, body: object) => {
    world.setNow(day(at));
    keys[name] = await world.key({ productId: editor, expiryDate: null, ...body });
  };
  await addVersion(world, editor);
  await add('plain', 1, { customerId: ada, versionId: 'ver_1', metadata: { plan: 'pro', order: 'A-1' } });
  await add('full', 3, { usesPerKey: '1', metadata: { is_trial: true, plan: 'pro', order: 'A-2' } });
  await world.activate({ productId: editor, licenseKey: keys.full ?? '' }, 'build-server-7');
  await add('floating', 5, { licenseType: 'floating', expiryDate: '2026-12-10T10:00:00Z' });
  await add('ended', 7, { expiryDate: day(10), metadata: { seats: 5 } });
  await add('blocked', 9, { expiryDate: day(10) });
  await world.sql(`update licenses set vendor_disabled = 1 where license_key = '${keys.blocked}'`);
  await add('viewed', 11, { productId: viewer, usesPerKey: '3' });
  await world.activate({ productId: viewer, licenseKey: keys.viewed ?? '' }, 'laptop');
  const all = Object.fromEntries(names.map((name) => [name, keys[name] ?? '']));
  return { editor, viewer, ada, keys: all as Shop['keys'] };
}

/** What a list of these keys answers, as far as the keys name it; the whole list unless it says otherwise. */
const shows = (expected: readonly Name[], meta: object = { limit: 100, next: null }, more: object = {}) =>
  answers(({ keys }: Shop) => ({
    data: expected.map((name) => expect.objectContaining({ key: keys[name], ...more })),
    meta,
    code: 0,
  }));

type Query = Record<string, string> | ((shop: Shop) => Record<string, string>);

/** What is asked, with what is asked it of; newest first. */
const filters: readonly (readonly [query: Query, Name[]])[] = [
  [{}, ['viewed', 'blocked', 'ended', 'floating', 'full', 'plain']],
  [({ viewer }) => ({ productId: viewer }), ['viewed']],
  [({ ada }) => ({ customerId: ada }), ['plain']],
  [{ status: 'active' }, ['viewed', 'floating', 'full', 'plain']],
  [{ status: 'unused' }, ['floating', 'plain']],
  [{ status: 'full' }, ['full']],
  [{ status: 'expiring' }, ['floating']],
  [{ status: 'expiring', within: 'P19D' }, []],
  [{ status: 'blocked' }, ['blocked']],
  [{ status: 'full,blocked' }, ['blocked', 'full']],
  [{ status: 'expired,unused,expiring' }, ['ended', 'floating', 'plain']],
  [{ status: 'active,full' }, ['viewed', 'floating', 'full', 'plain']],
  [{ status: 'expiring,blocked', within: 'P19D' }, ['blocked']],
  [{ status: 'full,expired,blocked', text: 'build-server' }, ['full']],
  [{ licenseType: 'floating,node-locked', status: 'unused' }, ['floating', 'plain']],
  [{ trial: 'true' }, ['full']],
  [{ licenseType: 'node-locked', trial: 'false', status: 'active' }, ['viewed', 'plain']],
  [{ createdAfter: day(7) }, ['viewed', 'blocked', 'ended']],
  [{ createdAfter: '1960-01-01T00:00:00Z', createdBefore: '2026-11-03T10:00:00.001Z' }, ['full', 'plain']],
  [{ expiresAfter: day(10) }, ['blocked', 'ended', 'floating']],
  [{ expiresBefore: '2026-11-10T10:00:00.001Z' }, ['blocked', 'ended']],
  [({ keys }) => ({ text: keys.ended.toLowerCase() }), ['ended']],
  [({ keys }) => ({ text: keys.ended.slice(-5).toLowerCase() }), ['ended']],
  [({ keys }) => ({ text: keys.ended.slice(-3) }), []],
  [{ text: 'engines lt' }, ['plain']],
  [{ text: 'ngines' }, ['plain']],
  [{ text: 'ng' }, []],
  [{ text: 'it@ada.ex' }, ['plain']],
  [{ text: 'build-server' }, ['full']],
  [{ 'metadata.plan': 'pro', 'metadata.order': 'A-2' }, ['full']],
  [{ 'metadata.plan': 'pro', text: 'eng' }, ['plain']],
  [{ 'metadata.seats': '5' }, ['ended']],
  [{ metadata: 'x', colour: 'blue', status: 'full' }, ['full']],
  [({ editor }) => ({ productId: editor, status: 'expired' }), ['ended']],
];

const refused: readonly Record<string, string>[] = [
  ...[{ status: 'disabled' }, { trial: '1' }, { createdAfter: '2026-11-01' }, { createdBefore: 'now' }],
  ...[{ status: 'full,full' }, { status: 'full,' }, { status: 'Full' }, { licenseType: 'floating,' }],
  ...[{ within: 'P30D' }, { status: 'full', within: 'P30D' }, { status: 'expiring', within: 'PT0S' }],
  ...[{ cursor: '', page: '1' }, { 'metadata.': 'x' }, { 'metadata.a': 'v'.repeat(501) }],
  { [`metadata.${'n'.repeat(65)}`]: 'x' },
  Object.fromEntries([['metadata.__proto__', 'x']]),
  Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`metadata.m${at}`, 'x'])),
];

const ofViewer = ({ viewer }: Shop) => ({ kind: 'read-only', productIds: [viewer] }) as const;

scenarios<Shop>('keys.list', { given: openShop }, [
  ...filters.map(([query, expected]) =>
    row(
      `finds ${expected.join() || 'nothing'} by ${typeof query === 'function' ? query : JSON.stringify(query)}`,
      shows(expected),
      { send: query, at: NOW },
    ),
  ),
  ...refused.map((query) => row(`refuses ${JSON.stringify(query).slice(0, 80)}`, 'invalidParams', { send: query })),
  row(
    'shows a licence without its devices, with its customer',
    answers(({ editor, ada, keys }: Shop) => ({
      data: [
        shownLicense({
          ...{ key: keys.plain, productId: editor, customerId: ada, expirationDate: null },
          ...{ productName: 'Editor', customerName: 'Ada Engines Ltd', customerEmail: 'it@ada.example' },
          metadata: { features: {}, is_trial: false, plan: 'pro', order: 'A-1' },
          versionId: 'ver_1',
          version: { id: 'ver_1', version: '1.0', description: null, active: true },
          ...{ createdAt: day(1), updatedAt: day(1) },
        }),
      ],
      meta: { limit: 100, next: null },
      code: 0,
    })),
    { send: ({ keys }) => ({ text: keys.plain }), at: NOW },
  ),
  row(
    'names neither product nor customer to who may not list these',
    answers({
      data: [expect.not.objectContaining({ customerName: expect.anything(), productName: expect.anything() })],
      meta: { limit: 100, next: null },
      code: 0,
    }),
    {
      send: ({ keys }) => ({ text: keys.plain }),
      at: NOW,
      as: { scopes: ['license:read'] },
      absent: ['Engines', 'Editor'],
    },
  ),
  row(
    'masks keys for a caller that may only read',
    shows(['full'], undefined, { key: expect.stringMatching(/^(\*{5}-){4}\w{5}$/), activations: 1 }),
    { send: { status: 'full' }, at: NOW, as: 'read-only', absent: ({ keys }) => Object.values(keys) },
  ),
  row(
    'lists only keys of the product that the token is for',
    shows(['viewed'], undefined, { key: expect.anything() }),
    {
      at: NOW,
      as: ofViewer,
    },
  ),
  row(
    'lists the keys of all its products as one list',
    shows(['ended', 'floating'], { total: 6, page: 2, limit: 2, totalPages: 3 }),
    {
      send: { page: '2', limit: '2' },
      at: NOW,
      as: ({ editor, viewer }) => ({ scopes: ['license:read', 'license:reveal'], productIds: [editor, viewer] }),
    },
  ),
]);

describe.each(engines)('a walk through a list of keys on $name', (engine) => {
  const it = testsOn(engine);

  it('gives each key once that is there all the time, while others come and go', async ({ world }) => {
    const product = (await world.product()).id;
    const created: string[] = [];
    const add = async (at: number) => {
      world.setNow(new Date(Date.parse(day(1)) + at * 1_000).toISOString());
      created.push(await world.key({ productId: product }));
    };
    for (let at = 0; at < 25; at += 1) await add(at);

    const seen: string[] = [];
    let cursor: string | null = '';
    for (let part = 0; cursor !== null; part += 1) {
      const query = new URLSearchParams({ cursor, limit: '4', productId: product });
      const { body } = await world.call('admin', 'GET', `/key/list?${query}`);
      seen.push(...body.data.map(({ key }: Parsed) => key));
      expect(body.meta).toEqual({ limit: 4, next: body.meta.next });
      cursor = body.meta.next;
      // One that was seen, one that was not, and a new one.
      await world.sql(`delete from licenses where license_key in ('${seen[part * 3]}', '${created[part]}')`);
      await add(100 + part);
    }

    // In the order of the list, without those that were removed before they came.
    const expected = created.slice(0, 25).filter((key) => seen.includes(key));
    expect(seen).toEqual(expected.toReversed());
    const removed = created.slice(0, 25 - seen.length);
    expect(seen.filter((key) => removed.includes(key))).toEqual([]);
  });

  it('ends with a part that is full to its last place', async ({ world, productId }) => {
    for (let count = 0; count < 2; count += 1) await world.key({ productId });
    const { data, meta } = (await world.call('admin', 'GET', '/key/list?cursor=&limit=2')).body;
    expect([data.length, meta.next]).toEqual([2, null]);
  });
});
