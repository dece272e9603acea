import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';

/**
 * Asks for the product and the customer that a list was limited to, when the list is empty. Throws the refusal of one
 * that does not exist: a script must not take that for one without keys. One that the token may not see counts as known.
 */
export async function checkFiltersExist(
  client: Client,
  { productId, customerId }: { readonly productId: string | undefined; readonly customerId?: string | undefined },
): Promise<void> {
  if (productId !== undefined) await checkExists(client.products.get({ productId }));
  if (customerId !== undefined) await checkExists(client.customers.get({ customerId }));
}

async function checkExists(lookUp: Promise<unknown>): Promise<void> {
  try {
    await lookUp;
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === 'scopeMissing')) throw error;
  }
}
