import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import { UsageError } from '../failure/errors.ts';
import type { Pending } from '../state/journal.ts';
import type { State } from '../state/state.ts';

/**
 * Finds the product of a key with the service. A key that is gone may be one that an earlier process deleted without an
 * answer: then the journal knows its product, and the same request can be repeated. Throws `UsageError` for a token that
 * may not look a key up.
 */
export async function findProductOfKey(
  client: Client,
  licenseKey: string,
  origin: string,
  state: () => Promise<State | null>,
): Promise<string> {
  try {
    const { license } = await client.keys.get({ licenseKey });
    return license.productId;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'scopeMissing') throw notAllowed(error);
    const pending = error.status === 404 ? await findPending(licenseKey, origin, await state()) : null;
    if (pending === null) throw error;
    return pending;
  }
}

const notAllowed = (cause: ApiError): UsageError =>
  new UsageError(
    '--product is required: this token may not look up the product of a key',
    [
      ['Give it:', '-P, --product ID'],
      ['Or set:', 'export LKM_PRODUCT=…'],
    ],
    { cause },
  );

/** The product that a change without an answer named beside the key; null when there is none. */
async function findPending(licenseKey: string, origin: string, state: State | null): Promise<string | null> {
  if (state === null) return null;
  const { pendingOf } = await import('../state/journal.ts');
  const address = pendingOf(state, origin)
    .map(addressIn)
    .find((one) => one.get('licenseKey') === licenseKey);
  return address?.get('productId') ?? null;
}

/** The texts of a request's query and body, by their names. */
function addressIn({ path, body }: Pending): Map<string, string> {
  const found = new Map(new URLSearchParams(path.split('?')[1] ?? ''));
  const sent: unknown = body === null ? null : JSON.parse(body);
  for (const [name, value] of Object.entries(Object(sent))) if (typeof value === 'string') found.set(name, value);
  return found;
}
