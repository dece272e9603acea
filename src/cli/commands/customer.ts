import type { Client } from '../../client/client.ts';
import type { Event } from '../../contract/events.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import type { Part } from '../output/result.ts';
import { dayInBrief, expiryInBrief, keyEnd, moment, usageInBrief } from '../output/words.ts';
import { unlessRefused } from '../request/look-ups.ts';
import { lastSeq } from './events-and-audit/feed.ts';
import { colorOf, statusOf } from './keys/list.ts';

const MAX_KEYS = 20;
const MAX_DEVICES = 20;
const MAX_EVENTS = 5;

/** Keys whose events are requested, and how far back. */
const KEYS_WITH_EVENTS = 5;
const EVENTS_BACK = 20_000;

/** What support needs: keys, devices and last events of a customer, as far as the token may see them. */
export async function partsOfCustomer(client: Client, customerId: string, now: number): Promise<readonly Part[]> {
  const [keys, devices] = await Promise.all([
    unlessRefused('scopeMissing', client.customers.keys({ customerId, limit: MAX_KEYS })),
    unlessRefused('scopeMissing', client.devices.list({ customerId, limit: MAX_DEVICES })),
  ]);
  const items = keys?.items ?? [];
  const ids = [customerId, ...items.slice(0, KEYS_WITH_EVENTS).map(({ id }) => id)];
  const events = (await unlessRefused('scopeMissing', lastEvents(client, ids))) ?? [];
  return [keysPart(items, now), devicesPart(devices?.items ?? []), eventsPart(events, items)] as readonly Part[];
}

function keysPart(items: readonly ListedLicense[], now: number) {
  return {
    fields: [
      { name: 'key' },
      { name: 'status', color: colorOf },
      { name: 'used', isNumber: true },
      { name: 'expirationDate', label: 'expires', show: expiryInBrief },
      { name: 'productName', label: 'product', cuts: true },
    ],
    rows: items.map((key) => ({
      ...key,
      status: statusOf(key, now),
      used: usageInBrief(key.activations, key.maxActivations),
    })),
  };
}

const devicesPart = (rows: readonly object[]) => ({
  fields: [
    { name: 'hostId', label: 'host id' },
    { name: 'deviceTag', label: 'tag', cuts: true },
    { name: 'licenseKey', label: 'of key', show: keyEnd },
    { name: 'lastSeenOn', label: 'last seen', show: dayInBrief },
  ],
  rows,
});

function eventsPart(events: readonly Event[], keys: readonly ListedLicense[]) {
  const keyOf = new Map(keys.map(({ id, key }) => [id, key]));
  return {
    fields: [
      { name: 'created_at', label: 'when', show: moment },
      { name: 'type', label: 'what' },
      { name: 'about', cuts: true },
    ],
    rows: events.map((event) => {
      const key = keyOf.get(event.resource_id);
      return { ...event, about: key === undefined ? String(event.data.hostId ?? '') : keyEnd(key) };
    }),
  };
}

/** Newest first. */
async function lastEvents(client: Client, ids: readonly string[]): Promise<readonly Event[]> {
  const after = Math.max(0, (await lastSeq(client.events.list)) - EVENTS_BACK);
  const found = await Promise.all(ids.map((resourceId) => Array.fromAsync(client.events.list({ after, resourceId }))));
  return found
    .flat()
    .toSorted((one, other) => other.seq - one.seq)
    .slice(0, MAX_EVENTS);
}
