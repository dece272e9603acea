import type { Preset } from './preset.ts';
import type { SystemName } from './systems.ts';
import { firstOf, isEmpty, isTrue, plain, type Values, wordOf } from './values.ts';

/** How systems write that there is no limit, and no expiry. */
const noLimit = /^(?:0|-\d+|unlimited|none|∞)$/;
const noEnd =
  /^(?:0|-62135596800(?:000)?|253402300799(?:999)?|0000-00-00.*|0001-01-01.*|never|none|lifetime|unlimited)$/;

/**
 * The fields of lkm for the values of a row, by the preset of its system; a field without a value is undefined.
 * `productMap` gives products of lkm by their old ids or names.
 */
export function fieldsOf(
  name: SystemName,
  preset: Preset,
  values: Values,
  productMap: ReadonlyMap<string, string>,
): Map<string, unknown> {
  const given = new Map(Object.entries(preset.fields).map(([field, source]) => [field, firstOf(values, source)]));
  const ends = ['expirationDate', 'createdAt'].filter((date) => noEnd.test(wordOf(given.get(date))));
  for (const date of ends) given.delete(date);
  const fields = {
    maxActivations: limitOf(given.get('maxActivations')),
    customerId: oldCustomerOf(name, given),
    expiresAfter: isEmpty(given.get('expirationDate')) ? daysFromFirstUse(preset, values) : undefined,
    productId: productOf(preset, values, productMap) ?? given.get('productId'),
    vendorDisabled: isBlocked(preset, values) || given.get('vendorDisabled'),
    features: featuresOf(preset, values) ?? given.get('features'),
  };
  return new Map([...given, ...Object.entries(fields)]);
}

function limitOf(written: unknown): string | undefined {
  const limit = wordOf(written).replace(/\.0+$/, '');
  return limit === '' || noLimit.test(limit) ? undefined : limit;
}

/** A customer without an address is found again by its old id. */
function oldCustomerOf(name: SystemName, given: ReadonlyMap<string, unknown>): string | undefined {
  const id = given.get('customerId');
  const isKnownById = isEmpty(given.get('customerEmail')) && !isEmpty(given.get('customerName')) && !isEmpty(id);
  return isKnownById ? `${name}-${id}` : undefined;
}

function daysFromFirstUse({ daysFromFirstUse: column }: Preset, values: Values): string | undefined {
  const days = Number(column && values.get(plain(column)));
  return days > 0 ? `P${days}D` : undefined;
}

function productOf({ fields }: Preset, values: Values, productMap: ReadonlyMap<string, string>): string | undefined {
  const names = [fields.productId ?? []].flat().map((column) => String(values.get(plain(column))));
  return names.map((name) => productMap.get(name)).find((product) => product !== undefined);
}

function isBlocked({ blocked = {}, blockedUnless = {} }: Preset, values: Values): boolean {
  const blocks = Object.entries(blocked).some(([column, words]) => {
    const value = values.get(plain(column));
    return words === true ? isTrue(value) : words.includes(wordOf(value));
  });
  const allows = Object.entries(blockedUnless).every(
    ([column, words]) => !values.has(plain(column)) || words.includes(wordOf(values.get(plain(column)))),
  );
  return blocks || !allows;
}

function featuresOf({ features = [] }: Preset, values: Values): Readonly<Record<string, true>> | undefined {
  const present = features.filter((feature) => isTrue(values.get(plain(feature))));
  return present.length === 0 ? undefined : Object.fromEntries(present.map((feature) => [feature, true]));
}
