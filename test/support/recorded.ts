import { expect } from 'vitest';
import type { World } from './world.ts';

/** What the record has of the last mutation of an operation: its resource and its events. */
export async function recordedOf(world: World, operation: string) {
  const { outbox = [] } = await world.contents();
  const entries = outbox.map(({ entry }) => JSON.parse(String(entry)));
  const found = entries.filter((entry) => entry.operation === operation);
  expect(found.length, `entries of ${operation}`).toBeGreaterThan(0);
  const { resource, events, details } = found.at(-1);
  return { resource, details, events: events.map(({ id: _, ...event }: { readonly id: string }) => event) };
}
