import { writeDuration } from '../../../contract/fields.ts';
import { licenseTypes } from '../../../contract/keys/licenses.ts';
import { bulkOptions, chosenOnly, isBulk, resultFields } from '../../bulk/options.ts';
import { change, command, flag, many, option, productOfKeyOrRows } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { parseCalendarDuration, parseSeconds } from '../../values/duration.ts';
import { parseExpiry } from '../../values/instant.ts';
import { keyCheck, keyUnlessFile } from '../../values/license-key.ts';
import {
  orNone,
  parseBoolean,
  parseFeature,
  parseLimit,
  parseMetadata,
  parseMetadataName,
  textOrNone,
} from '../../values/scalars.ts';
import { changedFields, changedKey, ifUpdatedAt } from './changed.ts';

export const keysUpdate = command({
  about:
    'Changes the limits, the expiry and other fields of a key. What is not given stays as it is. Metadata and features are ' +
    'merged by name.',
  operation: 'keys.update',
  arguments: { key: keyUnlessFile },
  options: {
    product: productOfKeyOrRows,
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
    feature: many('--feature <NAME[=VALUE]>', 'switch a feature on, or give it a value', {
      parse: parseFeature,
      field: 'metadata.features',
    }),
    removeFeature: many('--remove-feature <NAME>', 'take a feature away'),
    metadata: many('--metadata <NAME=VALUE>', 'set an entry of its metadata', {
      parse: parseMetadata,
      field: 'metadata',
    }),
    removeMetadata: many('--remove-metadata <NAME>', 'remove an entry of its metadata', { parse: parseMetadataName }),
    trial: option('--trial <true|false>', 'whether it is a trial', { parse: parseBoolean, field: 'metadata.is_trial' }),
    allowHost: many('--allow-host <ID>', 'let only this host, and others named so, use it', { field: 'allowedHosts' }),
    allowAnyHost: flag('--allow-any-host', 'let any host use it'),
    selfReset: option('--self-reset <true|false>', 'whether its customer may free devices', {
      parse: parseBoolean,
      field: 'customerCanSelfReset',
    }),
    version: option('--version-id <ID|none>', 'the product version it is for', {
      parse: textOrNone,
      field: 'versionId',
    }),
    inUse: flag('--in-use', 'also where a limit is below what is in use'),
    ifUpdatedAt,
    keyCheck,
    ...bulkOptions,
    ...change,
  },
  fields: [...changedFields, ...chosenOnly(resultFields([]), changedFields)],
  ownsOutput: isBulk,
  examples: [
    ['lkm keys update "$KEY" --max-activations 10 --expires 2028-12-31', 'more devices, another expiry'],
    ['lkm keys update "$KEY" --feature sso --remove-feature beta', 'other features'],
    ['lkm keys update "$KEY" --metadata plan=team --remove-metadata note', 'other metadata'],
    ['lkm keys update "$KEY" --max-activations 1 --in-use', 'also when three devices use it'],
    ['lkm keys update -P "$ID" -f changes.csv', 'a key with its changes in each row'],
  ],

  async run(values, context) {
    const { allowHost, allowAnyHost, inUse } = values;
    if (allowHost !== undefined && allowAnyHost) {
      throw new UsageError('--allow-host and --allow-any-host contradict each other; give one of them');
    }
    const changes = {
      maxActivations: values.maxActivations,
      expirationDate: values.expires,
      gracePeriod: values.gracePeriod,
      customerId: values.customer,
      licenseType: values.type,
      maxConcurrentSessions: values.maxSessions,
      heartbeatInterval: values.heartbeat,
      sessionLeaseDuration: values.lease,
      metadata: metadataOf(values),
      allowedHosts: allowAnyHost ? null : allowHost,
      customerCanSelfReset: values.selfReset,
      versionId: values.version,
    };
    if (values.file !== undefined) {
      const { changeKeysInBulk, updateKeysOperation } = await import('../../bulk/operations/change-keys.ts');
      const gracePeriod = changes.gracePeriod && writeDuration(changes.gracePeriod);
      return changeKeysInBulk(context, updateKeysOperation, values, {
        ...changes,
        gracePeriod,
        force: inUse || undefined,
      });
    }
    // Without a file it has been asked for.
    const { key = '' } = values;
    if (Object.values(changes).every((value) => value === undefined)) {
      throw new UsageError('nothing to change: give an option such as --max-activations or --expires', [
        ['See them:', 'lkm keys update --help'],
      ]);
    }
    const productId = await context.productOf(key, values.product);
    const changed = await context.change((client, call) =>
      client.keys.update(
        {
          productId,
          licenseKey: key,
          ...changes,
          force: inUse || undefined,
          ifUpdatedAt: values.ifUpdatedAt,
        },
        call,
      ),
    );
    return changedKey(changed, 'updated', context.io);
  },
});

interface GivenMetadata {
  readonly feature: ReturnType<typeof parseFeature>[] | undefined;
  readonly removeFeature: string[] | undefined;
  readonly metadata: ReturnType<typeof parseMetadata>[] | undefined;
  readonly removeMetadata: string[] | undefined;
  readonly trial: boolean | undefined;
}

/** Undefined when nothing of it is given. */
function metadataOf({ feature, removeFeature, metadata, removeMetadata, trial }: GivenMetadata) {
  const features = feature || removeFeature ? mergeNames('feature', feature, removeFeature) : undefined;
  if (features === undefined && !metadata && !removeMetadata && trial === undefined) return undefined;
  return { ...mergeNames('metadata', metadata, removeMetadata), features, is_trial: trial };
}

/** Entries to set, and null for those to remove. */
function mergeNames<V>(what: string, set: readonly (readonly [string, V])[] = [], remove: readonly string[] = []) {
  const both = set.find(([name]) => remove.includes(name));
  if (both !== undefined)
    throw new UsageError(`--${what} ${both[0]} and --remove-${what} ${both[0]} contradict each other`);
  return Object.fromEntries<V | null>([...set, ...remove.map((name) => [name, null] as const)]);
}
