import type { Customer } from '../../../contract/customers.ts';
import { License, type Session, type SignedFile } from '../../../contract/keys/licenses.ts';
import { freeMetadataOf } from '../../../contract/keys/metadata.ts';
import { isMaskedKey } from '../../../domain/license-key.ts';
import { productOption } from '../../command.ts';
import type { Field } from '../../output/result.ts';
import { EMPTY_CELL, expiry, momentAndWhen, relative, usage } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { deviceFields, marked } from '../devices.ts';
import { readCommand } from '../forms.ts';
import { namedRecord } from '../results.ts';
import { sessionFields } from '../sessions.ts';
import { colorOf, otherNames, statusOf } from './list.ts';

export type Lookup = {
  readonly license: License;
  readonly customer: Pick<Customer, 'id' | 'name' | 'email' | 'active'> | null;
  readonly sessions?: readonly Session[] | undefined;
  readonly files?: readonly SignedFile[] | undefined;
};

/** With the same status as in lists. */
export const withStatus = <L extends Pick<Lookup, 'license'>>(lookup: L, now: number) => ({
  ...lookup,
  status: statusOf(lookup.license, now),
});

/** A field of the licence with the same name. */
const licenseField = (name: string, more: Partial<Field<Lookup>> = {}): Field<Lookup> => ({
  name,
  of: ({ license }) => license[name],
  ...more,
});

const ownFields: readonly Field<Lookup>[] = [
  licenseField('key', { show: (key, now, { license }) => describeKey(String(key), license, now) }),
  {
    name: 'status',
    show: (status, _, { license }) => [status, license.revocationReason ?? []].flat().join(': '),
    color: colorOf,
  },
  licenseField('productId', {
    label: 'product',
    show: (id, _, { license: { productName } }) => (productName ? `${productName} (${id})` : String(id)),
  }),
  licenseField('activations', { show: (used, _, { license }) => usage(used, license.maxActivations) }),
  licenseField('maxActivations', { shown: 'data' }),
  licenseField('expirationDate', { label: 'expires', show: (_, now, { license }) => describeTerm(license, now) }),
  licenseField('licenseType', { label: 'type', show: (_, __, lookup) => describeType(lookup) }),
  { name: 'customer', show: (_, __, { customer }) => describeCustomer(customer), shown: 'table' },
  { name: 'customerId', label: 'customer id', of: ({ customer }) => customer?.id ?? null },
  licenseField('plan', { show: (_, __, { license }) => license.plan?.name ?? EMPTY_CELL, shown: 'table' }),
  licenseField('reference', { shown: 'table' }),
  {
    name: 'features',
    of: ({ license }) => license.metadata?.features ?? {},
    show: (_, __, { license }) => describeFeatures(license),
    shown: 'table',
  },
  licenseField('metadata', { show: (_, __, { license }) => describeMetadata(license), shown: 'table' }),
  licenseField('createdAt', { label: 'created', show: relative }),
  licenseField('version', { show: (_, __, { license }) => license.version?.version ?? 'any', shown: 'chosen' }),
  { name: 'files', of: ({ files }) => files ?? [], shown: 'chosen' },
];

export const licenseFields: readonly Field<Lookup>[] = [
  ...ownFields,
  ...otherNames(License, ownFields).map((name) => licenseField(name, { shown: 'chosen' })),
];

const fileFields: readonly Field<SignedFile>[] = [
  { name: 'id', label: 'licence file', drops: 2 },
  { name: 'hostId', label: 'for' },
  { name: 'signedAt', label: 'signed', show: relative, drops: 1 },
  { name: 'endsAt', label: 'expires', show: relative },
  { name: 'revokedAt', label: 'revoked', show: (value, now) => (value === null ? 'no' : relative(value, now)) },
];

export const keysGet = readCommand({
  about: 'Shows one licence key: its limits, its devices, its licence files and its customer.',
  operation: 'keys.get',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOption('its product: a key of another one is then not found'),
    keyCheck,
  },
  fields: licenseFields,
  examples: [
    ['lkm keys get "$KEY"', 'a key, whatever its product'],
    ['lkm keys get @key.txt -P "$ID" --json', "the service's own objects"],
    ['lkm keys get - -P "$ID" --fields activations < key.txt', 'how many devices use it'],
  ],

  async read(client, { key: licenseKey, product: productId }, { io }) {
    const lookup = await client.keys.get({ productId, licenseKey });
    const { license, sessions = [], files = [] } = lookup;
    return {
      ...namedRecord(withStatus(lookup, io.now()), license.key),
      parts: [
        { fields: deviceFields, rows: license.devices },
        { fields: sessionFields, rows: sessions },
        { fields: fileFields, rows: files },
      ],
      data: lookup,
      secrets: [license.key],
      secret: true,
    };
  },
});

/** Mentions the replaced key while both work. */
function describeKey(key: string, { previousKeyUntil: until }: License, now: number): string {
  const shown = marked(key, isMaskedKey(key));
  return until != null && Date.parse(until) > now ? `${shown} (the old one until ${until.slice(0, 10)})` : shown;
}

/** For a floating key with its sessions, if the token may see them. */
function describeType({ license: { licenseType, maxConcurrentSessions: most }, sessions }: Lookup): string {
  if (licenseType !== 'floating') return String(licenseType ?? EMPTY_CELL);
  if (sessions !== undefined) return `floating, ${usage(sessions.length, most)} sessions`;
  return `floating, ${most ?? 'unlimited'} sessions`;
}

/** The expiry and the grace period. */
function describeTerm({ expirationDate, expiresAfter, gracePeriod, graceUntil }: License, now: number): string {
  if (expirationDate === null && expiresAfter) return `${expiresAfter} after its first use`;
  const shown = expiry(expirationDate, now);
  if (graceUntil == null || expirationDate === null) return shown;
  if (Date.parse(expirationDate) > now) return `${shown}, then ${gracePeriod} of grace`;
  return Date.parse(graceUntil) > now ? `${shown}; usable until ${momentAndWhen(graceUntil, now)}` : shown;
}

function describeCustomer(customer: Lookup['customer']): string {
  if (customer === null) return EMPTY_CELL;
  const email = customer.email === null ? '' : ` <${customer.email}>`;
  return `${customer.name}${email}${customer.active ? '' : ' (inactive)'}`;
}

/** Features may come from the plan, which is named. */
function describeFeatures({ metadata, plan }: License): string {
  const { features = {}, is_trial = false } = metadata ?? {};
  const named = Object.entries(features).map(([name, set]) => (set === true ? name : `${name}=${set}`));
  const shown = [...(is_trial ? ['trial'] : []), ...named].join(', ') || EMPTY_CELL;
  return plan == null || shown === EMPTY_CELL ? shown : `${shown} (plan ${plan.name})`;
}

/** Without members that have rows of their own. */
const describeMetadata = ({ metadata }: License): string =>
  Object.entries(freeMetadataOf(metadata))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ') || EMPTY_CELL;
