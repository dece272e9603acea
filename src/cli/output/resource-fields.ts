import type { Customer } from '../../contract/customers.ts';
import type { Device, License } from '../../contract/licenses.ts';
import type { Field } from './result.ts';
import { expiry, nothing, relative, usage, yesNo } from './words.ts';

export const customerFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'email', cuts: true },
  { name: 'active', show: yesNo, drops: 2 },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  { name: 'updatedAt', shown: 'data' },
  { name: 'createdBy', shown: 'data' },
];

export const productFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'active', show: yesNo, drops: 2 },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  { name: 'updatedAt', shown: 'data' },
];

export const tokenFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'kind' },
  {
    name: 'expiresAt',
    label: 'expires',
    show: (value, now) => (value === null ? 'never' : relative(value, now)),
    drops: 2,
  },
  {
    name: 'revokedAt',
    label: 'revoked',
    show: (value, now) => (value === null ? 'no' : relative(value, now)),
    drops: 3,
  },
  { name: 'issued', show: (issued, _, { maxIssues }) => issuedOf(issued, maxIssues), drops: 1 },
  { name: 'scopes', show: listScopes, shown: 'chosen' },
  { name: 'productIds', shown: 'chosen' },
  { name: 'maxIssues', shown: 'data' },
  { name: 'createdAt', shown: 'data' },
];

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

function issuedOf(issued: unknown, most: unknown): string {
  if (issued === null) return nothing;
  return most === null ? String(issued) : usage(issued, most);
}

function listScopes(scopes: unknown): string {
  return Array.isArray(scopes) ? scopes.join(', ') : nothing;
}
