import type { LicenseKey } from '../contract/scalars.ts';
import { DEFAULT_FOUND, type Found, type search } from '../contract/search.ts';
import { findableBy, productsOf, seesSecrets } from '../domain/access.ts';
import { canonicalKey, showKey } from '../domain/license-key.ts';
import type { FoundCustomer, FoundLicense, Wanted } from '../store/tables/search.ts';
import type { Context } from './context.ts';
import { showNames } from './keys/show.ts';
import { anyone, type Operations } from './operation.ts';

/** A token that is limited to some products finds the keys of these products, and the customers of these keys. */
export const searchOperations: Operations<typeof search> = {
  find: {
    authorize: anyone,
    async perform(context, { text: written, limit = DEFAULT_FOUND }) {
      const { repositories, caller } = context;
      const { accountId } = caller;
      const text = withoutMask(written.trim());
      const key = canonicalKey(text as LicenseKey);
      const may = findableBy(caller);
      // One row more than requested tells whether further rows exist.
      const wanted: Wanted = { ...may, text, key, productIds: productsOf(caller, undefined), limit: limit + 1 };
      const { search } = repositories;
      const kinds: readonly Found[][] = [
        (await search.byKey(accountId, wanted)).map((one) => showLicense(context, one, wanted)),
        may.customers ? (await search.customers(accountId, wanted)).map(showCustomer) : [],
        (await search.byWords(accountId, wanted)).map((one) => showLicense(context, one, wanted)),
      ];
      const items = kinds.flatMap((found) => found.slice(0, limit));
      return { items, meta: { limit, more: kinds.some((found) => found.length > limit) } };
    },
  },
};

function showLicense({ caller }: Context, found: FoundLicense, { text, key }: Wanted): Found {
  const { license, words, ...names } = found;
  const shown = showKey(license.key, seesSecrets(caller));
  // Ends are found without case.
  const isKey = license.key.toLowerCase().endsWith(text.toLowerCase()) || license.key === key;
  const by = isKey ? 'key' : license.id === text ? 'id' : 'previousKey';
  return {
    kind: 'key',
    ...(words ?? { by, matched: by === 'id' ? license.id : shown }),
    ...{ licenseId: license.id, key: shown, productId: license.productId, customerId: license.customerId },
    ...{ productName: null, customerName: null, customerEmail: null, ...showNames(names, caller) },
  };
}

const showCustomer = ({ id, name, email, by }: FoundCustomer): Found => ({
  kind: 'customer',
  ...{ by, matched: (by === 'email' ? email : by === 'id' ? id : name) ?? name },
  ...{ licenseId: null, key: null, productId: null, productName: null },
  ...{ customerId: id, customerName: name, customerEmail: email },
});

/** The end of a key that was shown masked or by its end: `…2BBF6`, `*****-*****-*****-*****-2BBF6`. */
const withoutMask = (text: string): string => text.replace(/^(?:…|\.{3}|(?:\*+-?)+)(?=[^*]+$)/u, '');
