import type { RowOf } from './table.ts';
import type { accountColumns } from './tables/accounts.ts';
import type { customerColumns } from './tables/customers.ts';
import type { dataKeyColumns } from './tables/data-keys.ts';
import type { deviceColumns, rebindingColumns } from './tables/devices.ts';
import type { idempotencyColumns } from './tables/idempotency.ts';
import type { licenseExpiryColumns } from './tables/keys/expiries.ts';
import type { licenseMetadataColumns } from './tables/keys/keys.ts';
import type { licenseFileColumns, revocationListColumns } from './tables/keys/license-files.ts';
import type { licenseColumns } from './tables/keys/licenses.ts';
import type { searchPhraseColumns } from './tables/keys/search-phrases.ts';
import type { productVersionColumns } from './tables/product-versions.ts';
import type { productColumns } from './tables/products.ts';
import type { rateColumns } from './tables/rates.ts';
import type { auditColumns } from './tables/record/audit.ts';
import type { eventColumns } from './tables/record/events.ts';
import type { checkpointColumns, recordHeadColumns } from './tables/record/heads.ts';
import type { outboxColumns } from './tables/record/outbox.ts';
import type { sessionColumns } from './tables/sessions.ts';
import type { signingKeyColumns } from './tables/signing-keys.ts';
import type { tokenColumns } from './tables/tokens.ts';
import type { deliveryColumns } from './tables/webhooks/deliveries.ts';
import type { webhookColumns } from './tables/webhooks/webhooks.ts';

/**
 * The rows of every table, made from its columns. They are text and integer only, the same on both engines: instants are
 * ISO text, flags are 0 or 1, lists and objects are JSON text.
 */
export interface Tables {
  accounts: RowOf<typeof accountColumns>;
  tokens: RowOf<typeof tokenColumns>;
  signing_keys: RowOf<typeof signingKeyColumns>;
  products: RowOf<typeof productColumns>;
  customers: RowOf<typeof customerColumns>;
  licenses: RowOf<typeof licenseColumns> & RowOf<typeof licenseExpiryColumns>;
  devices: RowOf<typeof deviceColumns>;
  sessions: RowOf<typeof sessionColumns>;
  rebindings: RowOf<typeof rebindingColumns>;
  idempotency: RowOf<typeof idempotencyColumns>;
  outbox: RowOf<typeof outboxColumns>;
  license_files: RowOf<typeof licenseFileColumns>;
  revocation_lists: RowOf<typeof revocationListColumns>;
  audit: RowOf<typeof auditColumns>;
  events: RowOf<typeof eventColumns>;
  record_heads: RowOf<typeof recordHeadColumns>;
  checkpoints: RowOf<typeof checkpointColumns>;
  product_versions: RowOf<typeof productVersionColumns>;
  license_metadata: RowOf<typeof licenseMetadataColumns>;
  rates: RowOf<typeof rateColumns>;
  data_keys: RowOf<typeof dataKeyColumns>;
  search_phrases: RowOf<typeof searchPhraseColumns>;
  webhooks: RowOf<typeof webhookColumns>;
  webhook_deliveries: RowOf<typeof deliveryColumns>;
}
