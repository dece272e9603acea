import { expect, it } from 'vitest';
import { z } from 'zod';
import { listReply } from '../../src/contract/reply.ts';

const reply = listReply('ListThingsResponse', 'things.list', z.object({ id: z.string() }));
const meta = { total: 2, page: 1, limit: 2, totalPages: 1 };
const items = [{ id: 'a' }, { id: '","data":[' }];

async function* eachOf<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

async function join(pieces: AsyncIterable<string> | undefined): Promise<string> {
  let text = '';
  for await (const piece of pieces ?? []) text += piece;
  return text;
}

it.each([
  ['a page', { items, meta }],
  ['all items', { items }],
  ['no items', { items: [] }],
  ['a page beyond the end', { items: [], meta: { ...meta, page: 9 } }],
])('streams the same text as it wraps: %s', async (_, result) => {
  const text = JSON.stringify(reply.wrap(result));
  expect(await join(reply.stream?.(result))).toBe(text);
  expect(await join(reply.stream?.({ ...result, items: eachOf(result.items) }))).toBe(text);
  expect(reply.unwrap(JSON.parse(text))).toEqual(result);
});

it('carries meta only when there is one', () => {
  expect(reply.wrap({ items })).toEqual({ action: 'things.list', status: true, data: items, code: 0 });
  expect(reply.wrap({ items, meta })).toEqual({ action: 'things.list', status: true, data: items, meta, code: 0 });
});

it('does not build a list that is read piece by piece', () => {
  expect(() => reply.wrap({ items: eachOf(items) })).toThrow('things.list is read piece by piece: stream it');
});

it('takes the next item only when the piece before it has been taken, and holds no more than one piece', async () => {
  let made = 0;
  async function* endless() {
    for (;;) {
      made += 1;
      yield { id: 'x'.repeat(1_000) };
    }
  }
  const pieces = reply.stream?.({ items: endless() })[Symbol.asyncIterator]();
  for (let taken = 1; taken <= 100; taken += 1) {
    const { value } = (await pieces?.next()) ?? {};
    expect(value?.length).toBeLessThan(20_000);
    expect(made).toBeLessThanOrEqual(taken * 20);
  }
  await pieces?.return?.();
});

it('stops reading when the reader goes away', async () => {
  let closed = false;
  async function* items() {
    try {
      for (;;) yield { id: 'x' };
    } finally {
      closed = true;
    }
  }
  for await (const _ of reply.stream?.({ items: items() }) ?? []) break;
  expect(closed).toBe(true);
});
