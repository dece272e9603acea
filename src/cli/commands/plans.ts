import { argument, flag, many, option, productFilter, productNeeded, required } from '../command.ts';
import type { Field } from '../output/result.ts';
import { EMPTY_CELL, relative, yesNo } from '../output/words.ts';
import { parseCalendarDuration } from '../values/duration.ts';
import { orNone, parseBoolean, parseFeature, parseLimit } from '../values/scalars.ts';
import { changeCommand, showCommand } from './forms.ts';
import { fingerprintMatch, seatOptions, trialOption } from './keys/key-options.ts';
import { created, fieldsShown, listOf, recordOf, updated } from './results.ts';

const orWord = (word: string) => (value: unknown) => String(value ?? word);

const planFields: readonly Field[] = [
  { name: 'id' },
  { name: 'name', cuts: true },
  { name: 'productId', label: 'product', cuts: true, show: (id, _, { productName }) => String(productName ?? id) },
  { name: 'active', show: yesNo, drops: 3 },
  { name: 'maxActivations', label: 'devices', isNumber: true, show: orWord('unlimited') },
  { name: 'duration', label: 'lasts', show: orWord('for ever') },
  { name: 'isTrial', label: 'trial', show: yesNo, drops: 4 },
  { name: 'features', show: (features) => describeFeatures(Object(features)), shown: 'table' },
  { name: 'createdAt', label: 'created', show: relative, drops: 1 },
  ...fieldsShown('data', 'fromFirstUse', 'gracePeriod', 'licenseType', 'maxConcurrentSessions', 'heartbeatInterval'),
  ...fieldsShown(
    'data',
    'sessionLeaseDuration',
    'customerCanSelfReset',
    'fingerprintMatch',
    'updatedAt',
    'productName',
  ),
];

const describeFeatures = (features: Readonly<Record<string, unknown>>): string =>
  Object.entries(features)
    .map(([name, set]) => (set === true ? name : `${name}=${set}`))
    .join(', ') || EMPTY_CELL;

const planArgument = argument('<ID|NAME>', 'the plan, by its id or name', {
  field: 'planId',
  pick: 'plan',
  takesName: true,
});

/** The terms of keys with the plan. */
const terms = {
  maxActivations: option('--max-activations <N|unlimited>', 'how many devices may use a key', parseLimit),
  duration: option('--lasts <DUR|forever>', 'how long a key lasts, as 1y or 14d: to the end of that day, UTC', {
    parse: (text: string) => (/^(forever|never)$/i.test(text) ? null : parseCalendarDuration(text)),
    field: 'duration',
  }),
  fromFirstUse: option('--from-first-use <true|false>', 'whether a key lasts so long from its first use', parseBoolean),
  isTrial: trialOption('whether its keys are trials', 'isTrial'),
  gracePeriod: option(
    '--grace-period <DUR|none>',
    'how long a key may be used after it expires',
    orNone(parseCalendarDuration),
  ),
  ...seatOptions,
  customerCanSelfReset: option('--self-reset <true|false>', 'whether customers may move slots', parseBoolean),
  fingerprintMatch,
  feature: many('--feature <NAME[=VALUE]>', 'switch a feature on, or give it a value', {
    parse: parseFeature,
    field: 'features',
  }),
};

export const plansList = showCommand({
  about: 'Lists plans, oldest first.',
  operation: 'plans.list',
  options: { product: productFilter },
  fields: planFields,
  examples: [['lkm plans list -P "$ID"', 'those of a product']],
  show: ({ items }) => listOf(items, 'no plans yet; lkm plans create makes one'),
});

export const plansGet = showCommand({
  about: 'Shows one plan.',
  operation: 'plans.get',
  arguments: { plan: planArgument },
  options: { product: productFilter },
  fields: planFields,
  examples: [['lkm plans get "Pro yearly" -P "$ID"', 'one plan']],
  show: recordOf,
});

export const plansCreate = changeCommand({
  about: 'Creates a plan of a product and prints its id. lkm keys create --plan issues keys with it.',
  operation: 'plans.create',
  arguments: { givenName: argument('[NAME]', 'its name, in place of --name', { field: 'name' }) },
  options: {
    product: productNeeded,
    name: required('--name <NAME>', 'its name, unique in the product', { neededUnless: 'givenName' }),
    ...terms,
  },
  fields: planFields,
  examples: [
    ['lkm plans create "Pro yearly" -P "$ID" --lasts 1y --feature sso', 'a plan'],
    ['lkm plans create -P "$ID" --name Trial --trial --lasts 14d', 'one for lkm keys trial'],
  ],
  outcome: (plan) => created(plan, plan.name),
});

export const plansUpdate = changeCommand({
  about:
    'Changes a plan. Features change at once for every key of it; the rest counts for keys that are issued from then on. ' +
    'What is not given stays as it is.',
  operation: 'plans.update',
  arguments: { plan: planArgument },
  options: {
    product: productFilter,
    name: option('--name <NAME>', 'its new name'),
    active: flag('--active', 'let keys be issued by it'),
    inactive: flag('--inactive', 'let no more keys be issued by it', { field: 'active', means: false }),
    ...terms,
    removeFeature: many('--remove-feature <NAME>', 'take a feature away', {
      parse: (name: string) => [name, null] as const,
      field: 'features',
    }),
  },
  fields: planFields,
  examples: [
    ['lkm plans update "Pro yearly" --feature export --remove-feature beta', 'for all keys'],
    ['lkm plans update plan_… --inactive', 'no more keys'],
  ],
  outcome: updated,
});
