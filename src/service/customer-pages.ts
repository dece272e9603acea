import { MAX_MOVES_PER_YEAR } from '../contract/devices.ts';
import type { Contract } from '../contract/index.ts';
import type { HostId, Instant } from '../contract/scalars.ts';
import { type Caller, unrestricted } from '../domain/access.ts';
import { type Device, isActivated, isWaiting, type License, termOf } from '../domain/license.ts';
import { showKey } from '../domain/license-key.ts';
import { movesLeft } from '../domain/slots.ts';
import { addSeconds } from '../domain/time.ts';
import { hashToken } from '../domain/token.ts';
import type { Repositories } from '../store/store.ts';
import type { CustomerLink } from '../store/tables/customer-links.ts';
import type { Context } from './context.ts';
import { deviceOperations } from './devices.ts';
import { type Operations, ofWholeAccount, orThrow, replayToAnyone } from './operation.ts';

const HOUR_SECONDS = 3_600;

/** The operations that make and end links to the page of a customer. A page shows the keys of all products. */
export const customerLinkOperations: Operations<Pick<Contract['customers'], 'link' | 'unlink'>> = {
  link: {
    ...replayToAnyone(ofWholeAccount),
    async perform(context, { customerId, expiresIn = HOUR_SECONDS }) {
      const { repositories, caller, now } = context;
      const { accountId } = caller;
      const held = (await repositories.customers.hold(accountId, customerId)) || null;
      orThrow(held, 'customerNotFound', { customerId });
      const pageUrl = orThrow(context.pageUrl, 'pageNotServed');
      const token = Buffer.from(context.random(32)).toString('base64url');
      const expiresAt = addSeconds(now, expiresIn);
      await repositories.customerLinks.insert({ accountId, customerId, hash: hashToken(token), expiresAt }, now);
      context.record({ resource: { type: 'customer', id: customerId }, data: { expiresAt } });
      return { url: `${pageUrl}/my/${token}`, expiresAt };
    },
  },

  unlink: {
    ...replayToAnyone(ofWholeAccount),
    async perform({ repositories, caller, record }, { customerId }) {
      const customer = await repositories.customers.find(caller.accountId, customerId);
      orThrow(customer, 'customerNotFound', { customerId });
      const links = await repositories.customerLinks.remove(caller.accountId, customerId);
      record({ resource: { type: 'customer', id: customerId }, data: { links } });
    },
  },
};

/** The link with this token; null for an unknown token or an expired link. */
export async function openLink(
  { customerLinks }: Repositories,
  token: string,
  now: Instant,
): Promise<CustomerLink | null> {
  const link = await customerLinks.findByHash(hashToken(token));
  return link !== null && link.expiresAt > now ? link : null;
}

/** A customer acts on its page as its application does. */
export const callerOf = ({ accountId }: CustomerLink): Caller => ({
  accountId,
  tokenId: null,
  kind: 'client',
  scopes: new Set(),
  ...unrestricted,
});

/** A key as its customer sees it. */
export interface PageKey {
  readonly id: string;
  readonly product: string;
  /** The characters that a masked key shows. */
  readonly end: string;
  readonly state: 'usable' | 'waiting' | 'expired' | 'blocked' | 'revoked';
  readonly expirationDate: Instant | null;
  readonly maxActivations: number | null;
  readonly devices: readonly Device[];
  /** How many slots the customer may still give to other hosts this year; null is any number. */
  readonly movesLeft: number | null;
  /** Whether the vendor alone decides which device uses the key. */
  readonly isOfVendor: boolean;
  readonly mayFree: boolean;
}

/** The content of a page. */
export interface CustomerPage {
  readonly customer: string;
  readonly keys: readonly PageKey[];
  /** Whether there are more keys than the page shows. */
  readonly hasMore: boolean;
}

/** The most keys that a page shows. */
const MAX_KEYS = 100;

/** The keys of the customer that a link is for, newest first, with their devices; null when the customer was deleted. */
export async function readPage(
  repositories: Repositories,
  { accountId, customerId }: CustomerLink,
  now: Instant,
): Promise<CustomerPage | null> {
  const customer = await repositories.customers.find(accountId, customerId);
  if (customer === null) return null;
  const filters = { productIds: null, customerId };
  const licenses = await repositories.keyLists.page(accountId, filters, { limit: MAX_KEYS + 1 });
  const keys: PageKey[] = [];
  for (const license of licenses.slice(0, MAX_KEYS)) {
    const product = await repositories.products.find(accountId, license.productId);
    const devices = license.activations === 0 ? [] : await repositories.devices.list(license);
    keys.push(toPageKey(license, { product: product?.name ?? '', devices, now }));
  }
  return { customer: customer.name, keys, hasMore: licenses.length > MAX_KEYS };
}

function toPageKey(
  license: License,
  { product, devices, now }: { readonly product: string; readonly devices: readonly Device[]; readonly now: Instant },
): PageKey {
  const { id, expirationDate, maxActivations, customerCanSelfReset } = license;
  const left = movesLeft(license, now, MAX_MOVES_PER_YEAR);
  return {
    ...{ id, product, expirationDate, maxActivations, devices },
    end: /[^*-]*$/.exec(showKey(license.key, false))?.[0] ?? '',
    state: stateOf(license, now),
    movesLeft: left,
    isOfVendor: maxActivations !== null && !customerCanSelfReset,
    mayFree: isActivated(license) && license.revokedAt === null && left !== 0,
  };
}

function stateOf(license: License, now: Instant): PageKey['state'] {
  if (license.revokedAt !== null) return 'revoked';
  if (license.vendorDisabled) return 'blocked';
  if (isWaiting(license)) return 'waiting';
  return termOf(license, now) === 'ended' ? 'expired' : 'usable';
}

/**
 * Frees a device of the customer that a link is for: `freed`; `gone` when it is no device of such a key any more; `refused`
 * when the customer may not give its slot to another host.
 */
export async function freeDevice(
  context: Context,
  { accountId, customerId }: CustomerLink,
  { licenseId, deviceId }: { readonly licenseId: string; readonly deviceId: string },
): Promise<'freed' | 'gone' | 'refused'> {
  const { keys, devices } = context.repositories;
  const named = await keys.findById(accountId, licenseId);
  const license = named?.customerId === customerId ? await keys.lock(named) : null;
  if (license?.customerId !== customerId) return 'gone';
  const device = (await devices.list(license)).find(({ id }) => id === deviceId);
  if (device === undefined || !isActivated(license)) return 'gone';
  if (movesLeft(license, context.now, MAX_MOVES_PER_YEAR) === 0) return 'refused';
  const { productId, key: licenseKey } = license;
  await deviceOperations.deactivate.perform(context, { productId, licenseKey, hostId: device.hostId as HostId });
  return 'freed';
}
