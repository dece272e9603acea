import { createHash } from 'node:crypto';

/**
 * The fingerprint of a machine for `POST /key/activate` and `/key/sign`: each component, such as the serial number of its
 * disk, as the hex SHA-256 of its value with its name and the product. The service never gets the values, and fingerprints for
 * two products cannot be compared.
 */
export const fingerprintOf = (
  productId: string,
  components: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(components).map(([name, value]) => [
      name,
      createHash('sha256')
        .update(JSON.stringify([productId, name, value]))
        .digest('hex'),
    ]),
  );
