import { writeDuration } from '../../../contract/fields.ts';
import { licenseTypes } from '../../../contract/keys/licenses.ts';
import { bulkOptions, chosenOnly, isBulk, resultFields } from '../../bulk/options.ts';
import { flag, many, option, productOfKeyOrRows, type ValuesOf } from '../../command.ts';
import { parseCalendarDuration, parseSeconds } from '../../values/duration.ts';
import { parseExpiry } from '../../values/instant.ts';
import { keyCheck, keyUnlessFile } from '../../values/license-key.ts';
import { orNone, parseBoolean, parseLimit, parseMetadataName, textOrNone } from '../../values/scalars.ts';
import { changeCommand, contradiction, fieldsOf, ifUpdatedAt } from '../forms.ts';
import { metadataOf, metadataOptions } from './key-options.ts';
import { changedFields, changedKey } from './renew.ts';

const changes = {
  maxActivations: option('--max-activations <N|unlimited>', 'how many devices may use it at a time', {
    parse: parseLimit,
    field: 'maxActivations',
  }),
  expires: option('--expires <WHEN>', 'when it expires: a day, an instant, a time from now such as 1y, or never', {
    parse: parseExpiry,
    field: 'expirationDate',
  }),
  gracePeriod: option('--grace-period <DUR|none>', 'how long it may be used after it expires', {
    parse: orNone(parseCalendarDuration),
    field: 'gracePeriod',
  }),
  customer: option('--customer <ID|EMAIL|none>', 'the customer it is for', {
    parse: textOrNone,
    field: 'customerId',
    takesEmail: true,
  }),
  type: option('--type <TYPE>', 'what it is bound to', { field: 'licenseType', choices: licenseTypes }),
  maxSessions: option('--max-sessions <N|unlimited>', 'how many sessions a floating key may have', {
    parse: parseLimit,
    field: 'maxConcurrentSessions',
  }),
  heartbeat: option('--heartbeat <DUR>', 'how often a session reports itself', {
    parse: parseSeconds,
    field: 'heartbeatInterval',
  }),
  lease: option('--lease <DUR>', 'how long a session lasts without a report', {
    parse: parseSeconds,
    field: 'sessionLeaseDuration',
  }),
  ...metadataOptions('set an entry of its metadata'),
  removeFeature: many('--remove-feature <NAME>', 'take a feature away'),
  removeMetadata: many('--remove-metadata <NAME>', 'remove an entry of its metadata', { parse: parseMetadataName }),
  trial: option('--trial <true|false>', 'whether it is a trial', { parse: parseBoolean, field: 'metadata.is_trial' }),
  allowHost: many('--allow-host <ID>', 'let only this host, and others named so, use it', { field: 'allowedHosts' }),
  allowAnyHost: flag('--allow-any-host', 'let any host use it'),
  selfReset: option('--self-reset <true|false>', 'whether its customer may free devices', {
    parse: parseBoolean,
    field: 'customerCanSelfReset',
  }),
  version: option('--version-id <ID|none>', 'the product version it is for', { parse: textOrNone, field: 'versionId' }),
  inUse: flag('--in-use', 'also where a limit is below what is in use'),
};

export const keysUpdate = changeCommand({
  about:
    'Changes the limits, the expiry and other fields of a key. What is not given stays as it is. Metadata and features are ' +
    'merged by name.',
  operation: 'keys.update',
  isUpdate: true,
  arguments: { key: keyUnlessFile },
  options: { product: productOfKeyOrRows, ...changes, ifUpdatedAt, keyCheck, ...bulkOptions },
  fields: [...changedFields, ...chosenOnly(resultFields([]), changedFields)],
  ownsOutput: isBulk,
  examples: [
    ['lkm keys update "$KEY" --max-activations 10 --expires 2028-12-31', 'more devices, another expiry'],
    ['lkm keys update "$KEY" --feature sso --remove-feature beta', 'other features'],
    ['lkm keys update "$KEY" --metadata plan=team --remove-metadata note', 'other metadata'],
    ['lkm keys update "$KEY" --max-activations 1 --in-use', 'also when three devices use it'],
    ['lkm keys update -P "$ID" -f changes.csv', 'a key with its changes in each row'],
  ],

  async inBulk(values, context) {
    const { changeKeysInBulk, updateKeys } = await import('../../bulk/operations/changes.ts');
    const gracePeriod = values.gracePeriod && writeDuration(values.gracePeriod);
    const body = { ...fieldsOf(changes, values), ...composed(values), gracePeriod };
    return changeKeysInBulk(context, updateKeys, values, body);
  },
  prepare: (values) => composed(values),
  outcome: (license, _, { io }) => changedKey(license, 'updated', io),
});

/** The changes that several options make together. */
function composed({ allowHost, allowAnyHost, inUse, trial, ...metadata }: ValuesOf<typeof changes>) {
  if (allowHost !== undefined && allowAnyHost) throw contradiction('allow-host', 'allow-any-host');
  return {
    metadata: metadataOf(metadata, trial),
    ...(allowAnyHost && { allowedHosts: null }),
    force: inUse || undefined,
  };
}
