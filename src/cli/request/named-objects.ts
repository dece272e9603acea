import type { Client } from '../../client/client.ts';
import type { Pickable } from '../command.ts';
import { EMPTY_CELL } from '../output/words.ts';

/** An object that people name by its id, its name or its other name. */
export interface NamedObject {
  readonly id: string;
  readonly name: string;
  /** The slug of a product, the e-mail address of a customer, the user of a session, the description of a webhook. */
  readonly other?: string | null | undefined;
  /** One line about it; default: its name. */
  readonly about?: string;
  /** The columns by which a person recognises the object. */
  readonly cells: readonly string[];
}

export type Noun = Exclude<Pickable, 'key' | 'device'>;

interface Wanted {
  /** Lists only customers that match this text. */
  readonly text?: string | undefined;
  readonly page?: number;
  readonly limit?: number;
  /** Lists only plans of this product. */
  readonly productId?: string | undefined;
}

interface Kind {
  readonly idPrefix: string;
  list(client: Client, wanted: Wanted): Promise<readonly NamedObject[]>;
}

/** The objects that a name may stand for. */
export const objects: Readonly<Record<Noun, Kind>> = {
  product: {
    idPrefix: 'prod_',
    list: async ({ products }, { limit }) =>
      (await products.list({ limit })).items.map(({ id, name, slug, active }) => {
        return { id, name, other: slug, cells: [name, active ? '' : 'inactive'] };
      }),
  },
  customer: {
    idPrefix: 'cus_',
    list: async ({ customers }, { text, page, limit }) =>
      (await customers.list({ text, page, limit })).items.map(({ id, name, email }) => {
        return { id, name, other: email, about: email ? `${name} <${email}>` : name, cells: [name, email ?? ''] };
      }),
  },
  plan: {
    idPrefix: 'plan_',
    list: async ({ plans }, { productId }) =>
      (await plans.list({ productId })).items.map(({ id, name, active }) => {
        return { id, name, cells: [name, active ? '' : 'inactive'] };
      }),
  },
  token: {
    idPrefix: 'tok_',
    list: async ({ tokens }, { limit }) =>
      (await tokens.list({ limit })).items
        .filter(({ revokedAt }) => revokedAt === null)
        .map(({ id, name, kind }) => ({ id, name, cells: [name, kind] })),
  },
  session: {
    idPrefix: 'ses_',
    list: async ({ sessions }) =>
      (await sessions.list()).items.map(({ id, hostId, userIdentifier: user, customerName: customer }) => ({
        ...{ id, name: hostId ?? '', other: user },
        about: [hostId, customer].filter(Boolean).join(' '),
        cells: [hostId ?? EMPTY_CELL, user ?? '', customer ?? ''],
      })),
  },
  webhook: {
    idPrefix: 'whk_',
    list: async ({ webhooks }) =>
      (await webhooks.list()).items.map(({ id, url, description }) => {
        return { id, name: url, other: description, cells: [url] };
      }),
  },
};

/** The kind of object that a field of the contract names: `planId`, `productIds`. */
export const nounOf = (field: string): Noun | undefined =>
  (Object.keys(objects) as Noun[]).find((noun) => field === `${noun}Id` || field === `${noun}Ids`);
