import type { Client } from '../../client/client.ts';
import type { Customer } from '../../contract/customers.ts';
import { ApiError } from '../../contract/errors.ts';
import { emailKey } from '../../domain/email.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import type { Parameter } from '../command.ts';
import { type Hint, NotFoundError, UsageError } from '../failure/errors.ts';
import { quote } from '../output/words.ts';
import type { PendingChanges } from '../state/pending.ts';
import type { Pending } from '../state/pending-files.ts';
import { type NamedObject, type Noun, nounOf, objects } from './named-objects.ts';

/**
 * Finds the product of a key. A key that an earlier process deleted without a response is found by its pending change, so
 * that the request can be repeated. Throws `UsageError` if the token must not look keys up.
 */
export async function findProductOfKey(
  client: Client,
  licenseKey: string,
  origin: string,
  pending: () => Promise<PendingChanges | null>,
): Promise<string> {
  try {
    return (await client.keys.get({ licenseKey })).license.productId;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'scopeMissing') {
      const message = '--product is required: this token may not look up the product of a key';
      const ways: Hint[] = [
        ['Give it:', '-P, --product ID'],
        ['Or set:', 'export LKM_PRODUCT=…'],
      ];
      throw new UsageError(message, ways, { cause: error });
    }
    const known = error.status === 404 ? await pending() : null;
    const changes = known?.list().filter(({ value }) => value.origin === origin) ?? [];
    const addresses = changes.map(({ value }) => addressIn(value));
    const productId = addresses.find((address) => address.get('licenseKey') === licenseKey)?.get('productId');
    if (typeof productId !== 'string') throw error;
    return productId;
  }
}

/** The fields of a request, from its query and its body. */
function addressIn({ path, body }: Pending): ReadonlyMap<string, unknown> {
  const sent: object = body === null ? {} : JSON.parse(body);
  return new Map<string, unknown>([...new URLSearchParams(path.split('?')[1]), ...Object.entries(sent)]);
}

/** Finds the key with an end such as `…2BBF6`, or the present key for an earlier one. Throws `NotFoundError`, or `UsageError` for several keys. */
async function findKeyByEnd(client: Client, end: string): Promise<string> {
  const { items } = await client.search.find({ text: end, limit: NEAREST });
  const [found, ...others] = items.filter(({ by }) => by === 'key' || by === 'previousKey');
  if (found?.key == null)
    throw new NotFoundError(`no key ends with ${end}`, [['Find it by what you have:', 'lkm find KEY']]);
  if (others.length > 0) {
    throw new UsageError(`several keys end with ${end}: give the whole key of one`, [
      ['See them:', `lkm find ${quote(end)}`],
    ]);
  }
  if (!isMaskedKey(found.key)) return found.key;
  throw new UsageError('this token is shown keys masked, and a masked key names no licence', [
    'Give the whole key; a token with license:reveal finds it by its end.',
  ]);
}

/** Finds a customer by e-mail address, in any case. Throws `NotFoundError`. */
export async function findCustomerByEmail(client: Client, email: string): Promise<Customer> {
  const wanted = emailKey(email);
  for await (const customer of client.customers.list({ email })) {
    if (customer.email != null && emailKey(customer.email) === wanted) return customer;
  }
  throw new NotFoundError('there is no customer with this e-mail address', [['See them:', 'lkm customers list']]);
}

/**
 * Finds a customer by e-mail address, id or name. Throws `NotFoundError`, or `UsageError` for several customers of that
 * name.
 */
export async function findCustomer(client: Client, named: string): Promise<string> {
  if (named.includes('@')) return (await findCustomerByEmail(client, named)).id;
  const known = await unlessRefused('customerNotFound', client.customers.get({ customerId: named }));
  if (known !== null) return known.id;
  // Reads all customers: the customer with exactly this name, or a second one, may be the last.
  return only('customer', named, await objects.customer.list(client, { text: named }));
}

export const findProduct = async (client: Client, name: string): Promise<string> =>
  only('product', name, await objects.product.list(client, {}));

/**
 * Finds the id of an object by its name (a plan among the plans of the product), or a key by its end. Throws as {@link
 * findCustomer}.
 */
export async function findByName(
  client: Client,
  { field = '', pick }: Pick<Parameter, 'field' | 'pick'>,
  name: string,
  productId: string | undefined,
): Promise<string> {
  const noun = nounOf(field) ?? 'customer';
  if (pick === 'key') return findKeyByEnd(client, name);
  if (noun === 'customer') return findCustomer(client, name);
  return only(noun, name, await objects[noun].list(client, { productId }));
}

/** How many objects with similar names an error lists. */
const NEAREST = 5;

/**
 * Objects with a name or id; without regard to case only if no object matches exactly. Texts that differ in nothing but how
 * Unicode writes their accents look alike, and match.
 */
export function matching(text: string, all: readonly NamedObject[]): readonly NamedObject[] {
  const having = (form: (text: string) => string) =>
    all.filter(({ id, name, other }) => [id, name, other].some((one) => one != null && form(one) === form(text)));
  const exact = having((one) => one.normalize());
  return exact.length > 0 ? exact : having((one) => one.normalize().toLowerCase());
}

function only(noun: Noun, name: string, all: readonly NamedObject[]): string {
  const [found, ...others] = matching(name, all);
  if (found !== undefined && others.length === 0) return found.id;
  const isLike = (one: NamedObject) =>
    [one.name, one.other].some((text) => text?.toLowerCase().includes(name.toLowerCase()));
  // The service finds customers by more than this: without accents, by parts of their addresses.
  const like = noun === 'customer' || !all.some(isLike) ? all : all.filter(isLike);
  const near = (found === undefined ? like : [found, ...others])
    .slice(0, NEAREST)
    .map((one) => [one.id, one.name, one.other ?? ''] as const);
  const told: Hint[] = near.map(([id, name]) => `${id}  ${name}`);
  if (found !== undefined)
    throw new UsageError(`several ${noun}s are called '${name}': give the id of one`, told, { near });
  throw new NotFoundError(`no ${noun} is called '${name}'`, [...told, ['See them:', `lkm ${noun}s list`]], { near });
}

/**
 * Throws the service's error for a product or customer that does not exist: a script must not mistake it for a product or
 * customer without keys. An object that the token must not see counts as existing.
 */
export async function checkFiltersExist(
  client: Client,
  { productId, customerId }: { readonly productId: string | undefined; readonly customerId?: string | undefined },
): Promise<void> {
  if (productId !== undefined) await unlessRefused('scopeMissing', client.products.get({ productId }));
  if (customerId !== undefined) await unlessRefused('scopeMissing', client.customers.get({ customerId }));
}

/** Resolves to null instead of rejecting with `NotFoundError`. */
export async function orNull(found: Promise<string>): Promise<string | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof NotFoundError) return null;
    throw error;
  }
}

/** Resolves to null instead of rejecting with this error of the service. */
export async function unlessRefused<T>(reason: ApiError['reason'], asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.reason === reason) return null;
    throw error;
  }
}
