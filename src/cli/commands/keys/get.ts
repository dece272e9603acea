import type { Customer } from '../../../contract/customers.ts';
import type { Device, License } from '../../../contract/licenses.ts';
import { command, product } from '../../command.ts';
import type { Field } from '../../output/result.ts';
import { expiry, nothing, relative, usage } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';

/** What the lookup of a key returns: two things in one. */
export interface Lookup {
  readonly license: License;
  readonly customer: Pick<Customer, 'id' | 'name' | 'email' | 'active'> | null;
}

/** A field of a lookup. */
function of(name: string, value: (lookup: Lookup) => unknown, more: Partial<Field> = {}): Field {
  return { name, of: (row) => value(asLookup(row)), ...more };
}

const asLookup = (row: Record<string, unknown>): Lookup => row as unknown as Lookup;

/** A field of the licence itself. */
const own = (name: string, more: Partial<Field> = {}): Field => of(name, ({ license }) => license[name], more);

const extra = { shown: 'chosen' } as const;

export const licenseFields: readonly Field[] = [
  own('key', { show: marked }),
  of('status', ({ license }) => statusOf(license)),
  own('productId', { label: 'product' }),
  own('activations', { show: (used, _, row) => usage(used, asLookup(row).license.maxActivations) }),
  own('maxActivations', { shown: 'data' }),
  own('expirationDate', { label: 'expires', show: expiry }),
  own('licenseType', { label: 'type' }),
  of('customer', ({ customer }) => customer, { show: describeCustomer, shown: 'table' }),
  of('customerId', ({ customer }) => customer?.id ?? null, { label: 'customer id' }),
  own('metadata', { label: 'features', show: describeFeatures, shown: 'table' }),
  own('createdAt', { label: 'created', show: relative }),
  own('id', extra),
  own('activated', extra),
  own('devices', extra),
  own('allowedHosts', extra),
  own('maxConcurrentSessions', extra),
  own('heartbeatInterval', extra),
  own('sessionLeaseDuration', extra),
  own('customerCanSelfReset', extra),
  own('vendorDisabled', extra),
  own('versionId', extra),
  own('version', extra),
  own('updatedAt', extra),
];

export const deviceFields: readonly Field<Device>[] = [
  { name: 'hostId', label: 'host id' },
  { name: 'deviceTag', label: 'tag', cuts: true, drops: 2 },
  { name: 'ipAddress', label: 'ip address', show: marked, drops: 1 },
  { name: 'activationTime', label: 'activated', show: relative, drops: 3 },
];

export const keysGet = command({
  path: 'keys get',
  about: 'Shows one licence key: its limits, its devices and its customer.',
  operation: 'keys.get',
  arguments: { key: licenseKeyArgument },
  options: { product, keyCheck },
  fields: licenseFields,
  examples: [
    ['lkm keys get "$KEY" -P "$ID"', 'everything about a key'],
    ['lkm keys get @key.txt -P "$ID" --json', "the service's own objects"],
    ['lkm keys get - -P "$ID" --fields activations < key.txt', 'how many devices use it'],
  ],

  async run({ key, product }, context) {
    const client = await context.client();
    const lookup = await client.keys.get({ productId: product, licenseKey: key });
    return {
      kind: 'record',
      row: lookup,
      parts: [{ fields: deviceFields as readonly Field[], rows: lookup.license.devices }],
      data: lookup,
      quiet: [lookup.license.key],
      secret: true,
    };
  },
});

function statusOf({ activated, vendorDisabled }: License): string {
  if (vendorDisabled) return 'disabled';
  return activated ? 'activated' : 'not activated';
}

/** A value with stars in it was masked by the service. */
function marked(value: unknown): string {
  return String(value).includes('*') ? `${value} (masked: read-only token)` : String(value);
}

function describeCustomer(value: unknown): string {
  const customer = value as Lookup['customer'];
  if (customer === null) return nothing;
  const email = customer.email === null ? '' : ` <${customer.email}>`;
  return `${customer.name}${email}${customer.active ? '' : ' (inactive)'}`;
}

function describeFeatures(value: unknown): string {
  const { features, is_trial } = value as NonNullable<License['metadata']>;
  const named = Object.entries(features).map(([name, set]) => (set === true ? name : `${name}=${set}`));
  return [...(is_trial ? ['trial'] : []), ...named].join(', ') || nothing;
}
