import { apiError, type Reason } from '../../contract/errors.ts';
import { MIN_LICENSE_KEY } from '../../contract/limits.ts';
import type { LicenseKey, ProductId } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import { canonicalKey } from '../../domain/license-key.ts';
import type { Context } from '../context.ts';
import { orThrow } from '../operation.ts';

type Finding = Pick<Context, 'repositories' | 'caller' | 'now'>;

/** Looks up by a key; for an earlier key that still works, by the present key of its licence. */
export async function byKey<T>(
  { repositories, caller, now }: Finding,
  licenseKey: LicenseKey,
  find: (key: LicenseKey) => Promise<T | null>,
): Promise<T | null> {
  const given = canonicalKey(licenseKey);
  for (let key = given; ; ) {
    const named = await find(key);
    if (named !== null) return named;
    const current = await repositories.previousKeys.replacement(caller.accountId, given, now);
    // The key may have been reissued again in the meantime.
    if (current === null || current === key) return null;
    key = current;
  }
}

/**
 * The value that was looked up by a key. Throws ApiError for null: `invalidParams` if the text is shorter than any key that is
 * not imported, else `reason`. Source: API description, "Limits".
 */
export function foundByKey<T>(value: T | null, licenseKey: LicenseKey, reason: Reason): T {
  if (value === null && licenseKey.length < MIN_LICENSE_KEY)
    throw apiError('invalidParams', { fields: ['licenseKey'] });
  return orThrow(value, reason);
}

/** The licence that product and key name together. Throws ApiError `licenseNotFound`, or as {@link foundByKey}. */
export async function findLicense(
  context: Finding,
  { productId, licenseKey }: { readonly productId: ProductId; readonly licenseKey: LicenseKey },
): Promise<License> {
  const { repositories, caller } = context;
  const license = await byKey(context, licenseKey, (key) => repositories.keys.find(caller.accountId, productId, key));
  return foundByKey(license, licenseKey, 'licenseNotFound');
}
