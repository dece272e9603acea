import { dirname } from 'node:path';
import { createClient } from '../../client/client.ts';
import type { Customer } from '../../contract/customers.ts';
import type { Product } from '../../contract/products.ts';
import { toInstant } from '../../domain/time.ts';
import { type Verdict, verifyLicenseFile } from '../../domain/verify-license-file.ts';
import { withoutPassword } from '../config/location.ts';
import type { Io } from '../io.ts';
import { writeAtomically } from '../output/file.ts';
import type { Lookup } from '../output/resource-fields.ts';
import { inProcessUrl, openInstance } from '../request/server.ts';
import { parseEnd } from '../values/time.ts';

export const HOST = 'build-01';
export const OTHER_HOST = 'laptop-9';
export const SLOTS = 3;

/** What the tour did, step by step. */
export interface Tour {
  /** Without a password. */
  readonly db: string;
  readonly file: string;
  readonly product: Product;
  readonly customer: Customer;
  readonly key: string;
  /** What the file proves to the device it was made for, and to another. */
  readonly verdicts: { readonly [HOST]: Verdict; readonly [OTHER_HOST]: Verdict };
  /** The key as it was issued, with a file signed, and with its device freed. */
  readonly lookups: { readonly issued: Lookup; readonly signed: Lookup; readonly freed: Lookup };
}

/** Runs the service in this process on `db` and calls it as any command would. */
export async function takeTour({ db, file }: { db: string; file: string }, io: Io): Promise<Tour> {
  const instance = await openInstance(db, io, { create: true });
  try {
    const { fetch, ownerToken: token } = instance;
    const client = createClient({ baseUrl: inProcessUrl, fetch, token, userAgent: `lkm/${io.version}` });
    const product = await client.products.create({ name: 'Engine Pro' });
    const customer = await client.customers.create({ name: 'Ada Ltd', email: emailFor(file) });
    const { key } = await client.keys.create({
      productId: product.id,
      customerId: customer.id,
      usesPerKey: SLOTS,
      expiryDate: parseEnd('1y', io),
    });
    const address = { productId: product.id, licenseKey: key };
    const issued = await client.keys.get(address);
    const document = await client.keys.sign({ ...address, hostId: HOST });
    writeAtomically(file, document.file, 0o600, io);
    const { keys } = await client.signingKeys.jwks({ account: instance.accountId });
    const now = toInstant(io.now());
    const verify = (hostId: string): Verdict => verifyLicenseFile(document.file, { keys, now, hostId }).verdict;
    const signed = await client.keys.get(address);
    await client.keys.deactivate({ ...address, hostId: HOST });
    const freed = await client.keys.get(address);
    const verdicts = { [HOST]: verify(HOST), [OTHER_HOST]: verify(OTHER_HOST) };
    return { db: withoutPassword(db), file, product, customer, key, verdicts, lookups: { issued, signed, freed } };
  } finally {
    await instance.close();
  }
}

/** Unique, so that the tour can be taken twice on one database. */
const emailFor = (file: string): string => `ada-${dirname(file).slice(-4)}@example.com`;
