import { expect, it } from 'vitest';
import { readLast } from '../../src/cli/commands/events-and-audit/feed.ts';
import { clientOfCall } from '../../src/client/client.ts';

it('the last items of a kind are found however far back they are', async () => {
  const rare = [3, 4_000, 9_000];
  const asked: number[] = [];
  const { list } = clientOfCall(async (_, input) => {
    const { after, limit } = input as { readonly after: number; readonly limit: number };
    asked.push(after);
    const last = after >= 20_000 ? 20_000 : Math.min(20_000, after + limit);
    return { items: rare.filter((seq) => seq > after && seq <= last), meta: { last } };
  }).events;
  expect(await readLast(list, 2, 0)).toEqual([4_000, 9_000]);
  expect(asked.slice(0, 3)).toEqual([2_147_483_647, 19_000, 20_000]);
  expect(await readLast(list, 5, 0)).toEqual(rare);
  expect(await readLast(list, 5, 3)).toEqual([4_000, 9_000]);
});
