import { fingerprintOf } from '../../../client/fingerprint.ts';
import { licenseTypes } from '../../../contract/keys/licenses.ts';
import { many, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import { parseSeconds } from '../../values/duration.ts';
import {
  parseBoolean,
  parseComponent,
  parseFeature,
  parseLimit,
  parseMetadata,
  parseRateLimit,
} from '../../values/scalars.ts';

/** Create the customer along with the key. */
export const newCustomerOptions = {
  newCustomerName: option('--new-customer-name <NAME>', 'create its customer along with it', {
    field: 'newCustomer.name',
  }),
  newCustomerEmail: option('--new-customer-email <EMAIL>', 'the e-mail address of the new customer', {
    field: 'newCustomer.email',
  }),
};

export const fingerprintMatch = option(
  '--fingerprint-match <N|off>',
  'how many equal components of its fingerprint make a host a known device',
  parseRateLimit,
);

/** Whether keys are trials: `--trial` alone means that they are. */
export const trialOption = (describe: string, field = 'metadata.is_trial') =>
  option('--trial [true|false]', describe, { parse: parseBoolean, field });

/** The binding of a key and the sessions of a floating key. */
export const seatOptions = {
  licenseType: option('--type <TYPE>', 'what a key is bound to', { choices: licenseTypes }),
  maxConcurrentSessions: option(
    '--max-sessions <N|unlimited>',
    'how many sessions a floating key may have',
    parseLimit,
  ),
  heartbeatInterval: option('--heartbeat <DUR>', 'how often a session reports itself', parseSeconds),
  sessionLeaseDuration: option('--lease <DUR>', 'how long a session lasts without a report', parseSeconds),
};

export const components = many(
  '--component <NAME=VALUE>',
  'a part of the host, as disk=S3Z9: its hash is sent',
  parseComponent,
);

interface Hashable {
  readonly key: string;
  readonly product: string | undefined;
  readonly components: readonly (readonly [name: string, value: string])[] | undefined;
}

/** The fingerprint of components, which are hashed with the product. */
export async function fingerprintIn({ key, product, components }: Hashable, context: CommandContext) {
  if (components === undefined) return undefined;
  if (new Set(components.map(([name]) => name)).size < components.length) {
    throw new UsageError('a component is given twice');
  }
  const productId = await context.productOf(key, product);
  return { productId, fingerprint: fingerprintOf(productId, Object.fromEntries(components)) };
}

export const metadataOptions = (ofMetadata: string) => ({
  feature: many('--feature <NAME[=VALUE]>', 'switch a feature on, or give it a value', {
    parse: parseFeature,
    field: 'metadata.features',
  }),
  metadata: many('--metadata <NAME=VALUE>', ofMetadata, parseMetadata),
});
