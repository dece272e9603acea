import { type Event, recordNames } from '../../../contract/events.ts';
import { productOfKey } from '../../command.ts';
import type { Field } from '../../output/result.ts';
import { keyEnd, moment } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { period, periodFilter, type } from '../events-and-audit/feed.ts';
import { withActors } from '../events-and-audit/lines.ts';
import { readCommand } from '../forms.ts';
import { fieldsShown, listOf } from '../results.ts';

const historyFields: readonly Field[] = [
  { name: 'created_at', label: 'when', show: moment },
  { name: 'type', label: 'what' },
  { name: 'about', wraps: true },
  { name: 'by', cuts: true },
  { name: 'address', label: 'from', drops: 1 },
  ...fieldsShown('chosen', ...Object.keys(recordNames), 'seq', 'id', 'actor', 'data', 'request_id'),
];

export const keysHistory = readCommand({
  about:
    'Shows what happened to a licence key, its devices and its sessions: when, what, by whom and from where. Of the whole ' +
    'account it is lkm events list; calls and refusals are in lkm audit list.',
  operation: 'keys.get',
  alsoNeeds: { 'event:read': 'always' },
  arguments: { key: licenseKeyArgument },
  options: { product: productOfKey, ...period, type, keyCheck },
  fields: historyFields,
  examples: [
    ['lkm keys history "$KEY"', 'from its creation on'],
    ['lkm keys history "$KEY" --since 30d', 'of the last month'],
    ['lkm keys history @key.txt --json', 'with all that is known of each event'],
  ],

  async read(client, { key, product, type: types, ...wanted }) {
    const { license } = await client.keys.get({ productId: product, licenseKey: key });
    const events = await Array.fromAsync(client.events.list({ resourceId: license.id, type: types }));
    const isWanted = await periodFilter(client, wanted);
    const nameOf = customersOf(events);
    const reason = (event: Event) => (event.type === 'license.revoked' ? license.revocationReason : null);
    const rows = withActors(events.filter(isWanted)).map((event) => ({
      ...event,
      about: reason(event) ?? aboutOf(event, nameOf),
    }));
    const empty =
      events.length > 0 ? 'nothing of it fits' : 'nothing is known of it: it was made before events were kept';
    return listOf(rows, empty);
  },
});

/** Names the customers that have had a key, as far as its events name them. */
function customersOf(events: readonly Event[]): (id: unknown) => unknown {
  const names = new Map(events.map(({ data, customerName }) => [data.customerId, customerName]));
  return (id) => names.get(id as string) ?? id;
}

/** The device, the changed values, or another detail of the event. */
function aboutOf({ data, resource_type: type, resource_id: id }: Event, nameOf: (id: unknown) => unknown): string {
  const { hostId, expirationDate, expiresAt, from, to, changed, before, after, previousKey, key } = data;
  if (typeof hostId === 'string') return hostId;
  if (previousKey !== undefined) return `${keyEnd(previousKey)} → ${keyEnd(key)}`;
  if (from !== undefined) return `${shownValue(nameOf(from))} → ${shownValue(nameOf(to))}`;
  if (Array.isArray(changed)) {
    const isRecorded = (name: string) => Object.hasOwn(Object(before), name);
    const change = (name: string) => `${name} ${shownValue(Object(before)[name])} → ${shownValue(Object(after)[name])}`;
    return changed.map((name) => (isRecorded(String(name)) ? change(String(name)) : name)).join(', ');
  }
  if (type !== 'license') return id;
  const until = expirationDate ?? expiresAt;
  return typeof until === 'string' ? `until ${moment(until)}` : '';
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return /^\d{4}-\d\d-\d\dT/.test(String(value)) ? moment(value) : String(value);
}
