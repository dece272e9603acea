import type { Client } from '../../client/client.ts';
import { listAll } from '../../client/lists.ts';
import type { Customer } from '../../contract/customers.ts';
import { ApiError } from '../../contract/errors.ts';
import type { CommandContext } from '../context.ts';
import { type Hint, NotFoundError, UsageError } from '../failure/errors.ts';
import { type Pending, pendingOf } from '../state/journal.ts';
import type { State } from '../state/state.ts';

/**
 * Finds the product of a key. The journal knows that of a key which an earlier process deleted without an answer, so that
 * the request can be repeated. Throws `UsageError` for a token that may not look a key up.
 */
export async function findProductOfKey(
  client: Client,
  licenseKey: string,
  origin: string,
  state: () => Promise<State | null>,
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
    const known = error.status === 404 ? await state() : null;
    const pending = known === null ? [] : pendingOf(known, origin).map(addressIn);
    const productId = pending.find((address) => address.get('licenseKey') === licenseKey)?.get('productId');
    if (typeof productId !== 'string') throw error;
    return productId;
  }
}

/** The texts of a request's query and body, by their names. */
function addressIn({ path, body }: Pending): ReadonlyMap<string, unknown> {
  const sent: object = body === null ? {} : JSON.parse(body);
  return new Map<string, unknown>([...new URLSearchParams(path.split('?')[1]), ...Object.entries(sent)]);
}

/** The customer with an e-mail address, in any case. Throws `NotFoundError`. */
export async function findCustomerByEmail(client: Client, email: string): Promise<Customer> {
  const wanted = email.toLowerCase();
  for await (const customer of listAll(client.customers.list, { email })) {
    if (customer.email?.toLowerCase() === wanted) return customer;
  }
  throw new NotFoundError('there is no customer with this e-mail address', [['See them:', 'lkm customers list']]);
}

/** Some values of a command with ids in the place of the e-mail addresses that name customers. */
export async function withCustomerIds(
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
  { client }: Pick<CommandContext, 'client'>,
): Promise<Readonly<Record<string, unknown>>> {
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = (await findCustomerByEmail(await client(), String(values[name]))).id;
  return { ...values, ...ids };
}

/**
 * Throws the refusal of a product or customer that does not exist: a script must not take it for one without keys. One that
 * the token may not see counts as known.
 */
export async function checkFiltersExist(
  client: Client,
  { productId, customerId }: { readonly productId: string | undefined; readonly customerId?: string | undefined },
): Promise<void> {
  if (productId !== undefined) await unlessRefused('scopeMissing', client.products.get({ productId }));
  if (customerId !== undefined) await unlessRefused('scopeMissing', client.customers.get({ customerId }));
}

/** What the service answers; null when it refuses for this reason. */
export async function unlessRefused<T>(reason: ApiError['reason'], asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.reason === reason) return null;
    throw error;
  }
}
