import type { EventType } from '../../src/contract/events.ts';
import type { Instant } from '../../src/contract/scalars.ts';
import type { Connection } from '../../src/store/engine/driver.ts';
import type { Page } from '../../src/store/lists.ts';
import { plainSecrets } from '../../src/store/secret-box.ts';
import { customerRepository } from '../../src/store/tables/customers.ts';
import { type KeyFilters, keyListRepository } from '../../src/store/tables/keys/lists.ts';
import { eventRepository } from '../../src/store/tables/record/events.ts';
import { sessionRepository } from '../../src/store/tables/sessions.ts';
import { deliveryRepository } from '../../src/store/tables/webhooks/deliveries.ts';
import { now } from '../domain/examples.ts';
import { idOf, products, SIZE } from './filled-lists.ts';
import { accountId } from './store-fixture.ts';

/** One filter: the field of the list's filters that it sets, and to what. Two of one field exclude each other, but for lists. */
export type FilterValue = readonly [name: string, field: string, value: unknown];

/** A list of the API, as its table has it: every filter, and how to read a page of it, or to count it. */
export interface AnyList {
  readonly name: string;
  readonly filters: readonly FilterValue[];
  /** What stands in the middle of the list. */
  readonly middle: string;
  read(connection: Connection, filters: Readonly<Record<string, unknown>>, page: Page | 'count'): Promise<unknown>;
}

const later = '2026-12-21T10:00:00.000Z' as Instant;
const midway = SIZE / 2;

const status = (is: NonNullable<KeyFilters['status']>['is'], until = later): FilterValue => [
  is,
  'status',
  { is, now, until },
];

const text = (text: string) => ({ text, key: text, anyKeyEnd: true, customers: true });

const keys: AnyList = {
  name: 'keys',
  filters: [
    ['product', 'productIds', [products[1]]],
    ['two products', 'productIds', products],
    ['customer', 'customerId', idOf('cus', 1)],
    status('active'),
    status('unused'),
    status('full'),
    status('expiring', '2036-01-01T00:00:00.000Z' as Instant),
    status('expired'),
    status('blocked'),
    status('revoked'),
    ['plan of keys', 'planId', 'plan_1'],
    ['trial', 'trial', true],
    ['no trial', 'trial', false],
    ['floating', 'licenseType', 'floating'],
    ['node-locked', 'licenseType', 'node-locked'],
    ['created after', 'fromId', idOf('lic', midway)],
    ['created before', 'beforeId', idOf('lic', midway)],
    ['expires after', 'expiresFrom', now],
    ['expires before', 'expiresBefore', now],
    ['text of hosts', 'text', text('host')],
    ['text of customers', 'text', text('ada')],
    ['text of one', 'text', text(`KEY-${String(midway).padStart(26, '0')}`)],
    ['plan', 'metadata', [['plan', 'pro']]],
    ['region', 'metadata', [['region', 'eu']]],
    ['nowhere', 'metadata', [['region', 'nowhere']]],
  ],
  middle: idOf('lic', midway),
  read(connection, filters, page) {
    const { page: read, count } = keyListRepository(connection);
    const wanted = { productIds: null, ...filters };
    return page === 'count' ? count(accountId, wanted) : read(accountId, wanted, page);
  },
};

const customers: AnyList = {
  name: 'customers',
  filters: [
    ['active', 'active', true],
    ['inactive', 'active', false],
    ['e-mail', 'email', '99'],
    ['text', 'text', 'ada'],
    ['text of one', 'text', String(midway)],
    ['product', 'productIds', new Set([products[1]])],
  ],
  middle: idOf('cus', midway),
  read(connection, filters, page) {
    const list = customerRepository(connection).list(accountId, filters);
    return page === 'count' ? list.count() : list.part(page);
  },
};

const sessions: AnyList = {
  name: 'sessions',
  filters: [
    ['product', 'productIds', [products[1]]],
    ['two products', 'productIds', products],
    ['key', 'licenseKey', `KEY-${String(midway).padStart(26, '0')}`],
  ],
  middle: `ses${idOf('lic', midway)}`,
  read(connection, filters, page) {
    const list = sessionRepository(connection, plainSecrets).list(accountId, now, { productIds: null, ...filters });
    return page === 'count' ? list.count() : list.part(page);
  },
};

/** A list that is read from a number on, and never counted. */
const numbered = (
  name: string,
  filters: readonly FilterValue[],
  read: (connection: Connection, range: { at: number; limit: number }, filters: object) => Promise<unknown>,
): AnyList => ({
  name,
  filters,
  middle: String(midway),
  read: async (connection, wanted, page) => {
    if (page === 'count' || page.offset !== undefined) return;
    await read(connection, { at: Number(page.after ?? 0), limit: page.limit }, wanted);
  },
});

/** Every list of the API that has filters. */
export const lists: readonly AnyList[] = [
  keys,
  customers,
  sessions,
  numbered(
    'events',
    [
      ['type', 'types', ['license.created'] satisfies EventType[]],
      ['no such type', 'types', ['ping'] satisfies EventType[]],
      ['subject', 'subjectId', 'lic_1'],
    ],
    (connection, { at, limit }, filters) =>
      eventRepository(connection).list(accountId, { after: at, until: SIZE, limit }, filters),
  ),
  numbered(
    'deliveries',
    [
      ['waiting', 'state', 'waiting'],
      ['delivered', 'state', 'delivered'],
    ],
    (connection, { at, limit }, filters) =>
      deliveryRepository(connection).list(
        { accountId, webhookId: idOf('wh', 1) },
        { below: at === 0 ? SIZE + 1 : at, limit, ...filters },
      ),
  ),
];
