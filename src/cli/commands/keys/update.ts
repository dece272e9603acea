import { flag, many, option, productOfKeyOrRows } from '../../command.ts';
import { parseCalendarDuration } from '../../values/duration.ts';
import { readExpiry } from '../../values/instant.ts';
import { keyCheck, keysUnlessFile } from '../../values/license-key.ts';
import { orNone, parseBoolean, parseLimit, parseMetadataName, textOrNone } from '../../values/scalars.ts';
import { ifUpdatedAt } from '../forms.ts';
import { fingerprintMatch, metadataOptions, seatOptions, trialOption } from './key-options.ts';
import { keysCommand } from './keys-command.ts';
import { changedFields, changedKey } from './renew.ts';

export const keysUpdate = keysCommand({
  about:
    'Changes the limits, the expiry and other fields of a key. What is not given stays as it is. Metadata and features are ' +
    'merged by name.',
  operation: 'keys.update',
  done: 'updated',
  arguments: { keys: keysUnlessFile },
  options: {
    product: productOfKeyOrRows,
    maxActivations: option('--max-activations <N|unlimited>', 'how many devices may use it at a time', parseLimit),
    expires: option('--expires <WHEN>', 'when it expires: a day, an instant, a time from now such as 1y, or never', {
      parse: readExpiry,
      field: 'expirationDate',
    }),
    gracePeriod: option(
      '--grace-period <DUR|none>',
      'how long it may be used after it expires',
      orNone(parseCalendarDuration),
    ),
    customer: option('--customer <ID|EMAIL|NAME|none>', 'the customer it is for', {
      parse: textOrNone,
      field: 'customerId',
      takesName: true,
    }),
    ...seatOptions,
    ...metadataOptions('set an entry of its metadata'),
    removeFeature: many('--remove-feature <NAME>', 'take a feature away', {
      parse: (name: string) => [name, null] as const,
      field: 'metadata.features',
    }),
    removeMetadata: many('--remove-metadata <NAME>', 'remove an entry of its metadata', {
      parse: (name: string) => [parseMetadataName(name), null] as const,
      field: 'metadata',
    }),
    trial: trialOption('whether it is a trial'),
    allowedHosts: many('--allow-host <ID>', 'let only the hosts that are given here use it'),
    allowAnyHost: flag('--allow-any-host', 'let any host use it', { field: 'allowedHosts', means: null }),
    customerCanSelfReset: option('--self-reset <true|false>', 'whether its customer may move slots', parseBoolean),
    versionId: option('--version-id <ID|none>', 'the product version it is for', textOrNone),
    plan: option('--plan <ID|NAME|none>', 'the plan whose features it follows', {
      parse: textOrNone,
      field: 'planId',
      takesName: true,
    }),
    fingerprintMatch,
    inUse: flag('--in-use', 'also if a limit is below the present use', { field: 'force' }),
    ifUpdatedAt,
    keyCheck,
  },
  rows: { repeatsSafely: true },
  fields: changedFields,
  examples: [
    ['lkm keys update "$KEY" --max-activations 10 --expires 2028-12-31', 'more devices, another expiry'],
    ['lkm keys update "$KEY" --feature sso --remove-feature beta', 'other features'],
    ['lkm keys update "$KEY" --metadata plan=team --remove-metadata note', 'other metadata'],
    ['lkm keys update "$KEY" --max-activations 1 --in-use', 'also when three devices use it'],
    ['lkm keys update -P "$ID" -f changes.csv', 'a key with its changes in each row'],
  ],

  outcome: (license, _, { io }) => changedKey(license, 'updated', io),
});
