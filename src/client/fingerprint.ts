import { createHash } from 'node:crypto';

/**
 * The fingerprint of a machine for `POST /key/activate` and `/key/sign`: each component, such as the serial number of its
 * disk, as the hex SHA-256 of itself with its name and the product. The service does not get to know the numbers, and
 * those of two products cannot be compared.
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
