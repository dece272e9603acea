import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { integerField, SearchText } from './fields.ts';
import { partList } from './reply.ts';
import { Count, CustomerId, LicenseId, ProductId, resource, ShownKey, shown, shownId } from './scalars.ts';

/** The fields that a text can match. */
export const foundBy = ['key', 'previousKey', 'id', 'reference', 'metadata', 'device', 'name', 'email'] as const;

const customer = {
  customerId: shownId(CustomerId).nullable().describe('The customer, or that of the key; null for none'),
  customerName: z
    .string()
    .nullable()
    .meta({ description: 'Its name; null without `customer:read`', examples: ['Ada Ltd'] }),
  customerEmail: z
    .string()
    .nullable()
    .meta({ description: 'Its e-mail address; null without `customer:read`', examples: ['it@ada.example'] }),
};

/** Something that a text finds: a customer or a key. */
export const Found = resource('Found', 'A customer or a key that a text finds, and what the text matches', {
  kind: z.enum(['key', 'customer']).describe('What it is'),
  by: z.enum(foundBy).describe('What the text matches; `device`: a host id or a tag'),
  matched: shown('The matching value, as the caller may see it: `order=A-1042` for an entry of metadata', 'A-1042'),
  licenseId: LicenseId.nullable().describe('The licence; null for a customer'),
  key: ShownKey.nullable().describe('Its key; masked for read-only callers'),
  productId: shownId(ProductId).nullable().describe('Its product'),
  productName: z
    .string()
    .nullable()
    .meta({ description: 'The name of its product; null without `product:read`', examples: ['Editor'] }),
  ...customer,
});
export type Found = z.output<typeof Found>;

const FoundMeta = resource('FoundMeta', 'How much is shown', {
  limit: Count.min(1).describe('The most results of each kind'),
  more: z.boolean().describe('Whether there are more results of a kind'),
});

/** The most results of each kind unless a limit is given. */
export const DEFAULT_FOUND = 20;

export const search = {
  /** Finds customers and keys by any part of their data. Source: decision 0052. */
  find: endpoint('GET /find', 'license:read', {
    summary: 'Find customers and keys',
    description:
      'Finds keys by the whole key, its last section, an earlier key or its last section, an id, and parts of words of the reference, of texts ' +
      'and numbers in the metadata, and of host ids and tags of devices; with `customer:read` also customers by parts of ' +
      'words of name and e-mail address. Case and accents make no difference. Newest first; if very many match, only some of them. ' +
      'A caller that sees masked keys finds them only by the part that it sees.',
    query: z.object({
      text: SearchText.describe('What to find'),
      limit: integerField(1, 100).optional().describe(`The most results of each kind; default ${DEFAULT_FOUND}`),
    }),
    readsMany: true,
    reply: partList('FindResponse', Found, FoundMeta),
    example: { text: 'ada' },
  }),
};
