import type { AccountId, HostId, Instant, LicenseKey, ProductId } from '../../contract/scalars.ts';
import type { Connection } from '../engine/driver.ts';
import { tableOf, text, unlessTaken } from '../table.ts';

const trials = tableOf('trials', {
  accountId: text<AccountId>('account_id'),
  productId: text<ProductId>('product_id'),
  hostId: text<HostId>('host_id'),
  licenseId: text('license_id'),
  /** The key that the trial began with. */
  key: text<LicenseKey>('license_key'),
  createdAt: text<Instant>('created_at'),
});

type Trial = Parameters<typeof trials.insert>[1];

/** The trials of devices, by product; also trials whose licences were deleted. */
export const trialRepository = (db: Connection) => ({
  /** Notes a trial; false when the device has had a trial of this product. */
  insert: (trial: Trial): Promise<boolean> => trials.insert(db, trial, unlessTaken),

  find: (key: Pick<Trial, 'accountId' | 'productId' | 'hostId'>): Promise<Trial | null> => trials.find(db, key),
});
