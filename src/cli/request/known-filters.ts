import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';

/**
 * Asks for the product and the customer that a list was limited to, when the list is empty. Throws the refusal of one
 * that does not exist: a script must not take that for one without keys. What the token may not see is not looked up.
 */
export async function refuseUnknown(
  client: Client,
  { productId, customerId }: { readonly productId: string | undefined; readonly customerId: string | undefined },
): Promise<void> {
  if (productId !== undefined) await found(client.products.get({ productId }));
  if (customerId !== undefined) await found(client.customers.get({ customerId }));
}

async function found(look: Promise<unknown>): Promise<void> {
  try {
    await look;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) throw error;
  }
}
