import { count } from '../../../output/words.ts';
import type { RawRow } from '../raw-row.ts';
import { distinct, inlineDevices, MAX_HOST, type ReadDevice } from './devices.ts';
import { presets } from './index.ts';
import type { Preset } from './preset.ts';
import { type SystemName, systems } from './systems.ts';
import { firstOf, isEmpty, isTrue, plain, type Values, valuesOf, wordOf } from './values.ts';

/** The system whose files have these columns; null for an unknown one. */
export function recognise(names: readonly string[]): SystemName | null {
  const there = new Set(names.map(plain));
  return systems.find((name) => presets[name].recognisedBy.every((column) => there.has(plain(column)))) ?? null;
}

/** How systems write that there is no limit, and no expiry. */
const noLimit = /^(?:0|-\d+|unlimited|none|∞)$/;
const noEnd =
  /^(?:0|-62135596800(?:000)?|253402300799(?:999)?|0000-00-00.*|0001-01-01.*|never|none|lifetime|unlimited)$/;

interface Options {
  /** Products of lkm by the ids or names in the files. */
  readonly productMap: ReadonlyMap<string, string>;
  readonly takesTests: boolean;
  /** Columns that the command line names; they go before the columns of the preset. */
  readonly mapping: ReadonlyMap<string, string>;
}

/** Turns rows of a system into rows of lkm, and counts the rows and values that are left out. */
export function openPreset(name: SystemName, { productMap, takesTests, mapping }: Options) {
  const preset = presets[name];
  const used = new Set(columnsOf(preset).map(plain));
  const leftOut = new Set<string>();
  const lost = new Map<string, { readonly noun: string; times: number }>();
  const rowsLeftOut = new Map<string, number>();
  const read = new Set<string>();
  let overLimit = 0;

  function fieldsOf(values: Values): Map<string, unknown> {
    const fields = new Map(Object.entries(preset.fields).map(([field, source]) => [field, firstOf(values, source)]));
    const limit = wordOf(fields.get('maxActivations')).replace(/\.0+$/, '');
    if (limit === '' || noLimit.test(limit)) fields.delete('maxActivations');
    else fields.set('maxActivations', limit);
    // A customer without an address is found again by its old id.
    const isKnownById = isEmpty(fields.get('customerEmail')) && !isEmpty(fields.get('customerName'));
    const oldCustomer = fields.get('customerId');
    fields.set('customerId', isKnownById && !isEmpty(oldCustomer) ? `${name}-${oldCustomer}` : undefined);
    for (const date of ['expirationDate', 'createdAt']) if (noEnd.test(wordOf(fields.get(date)))) fields.delete(date);
    const days = Number(preset.daysFromFirstUse && values.get(plain(preset.daysFromFirstUse)));
    if (days > 0 && isEmpty(fields.get('expirationDate'))) fields.set('expiresAfter', `P${days}D`);
    const products = [preset.fields.productId ?? []].flat().map((column) => String(values.get(plain(column))));
    const mapped = products.find((one) => productMap.has(one));
    if (mapped !== undefined) fields.set('productId', productMap.get(mapped));
    const isBlocked =
      Object.entries(preset.blocked ?? {}).some(([column, words]) => {
        const value = values.get(plain(column));
        return words === true ? isTrue(value) : words.includes(wordOf(value));
      }) ||
      Object.entries(preset.blockedUnless ?? {}).some(([column, words]) => {
        return values.has(plain(column)) && !words.includes(wordOf(values.get(plain(column))));
      });
    if (isBlocked) fields.set('vendorDisabled', true);
    const features = preset.features?.filter((feature) => isTrue(values.get(plain(feature)))) ?? [];
    if (features.length > 0) fields.set('features', Object.fromEntries(features.map((feature) => [feature, true])));
    return fields;
  }

  function lose(what: string, noun = 'key'): void {
    const known = lost.get(what) ?? { noun, times: 0 };
    known.times += 1;
    lost.set(what, known);
  }

  /** Why the row is left out; null when it is read. */
  function whyLeftOut(values: Values, key: string, oldId: unknown): string | null {
    const isTest = preset.test !== undefined && isTrue(values.get(plain(preset.test)));
    if (isTest && !takesTests) return TEST;
    if (key === '') return 'without a key left out';
    if (key.length > MAX_KEY) return `with a key of more than ${MAX_KEY} characters left out`;
    // Pages overlap when keys are issued between two requests.
    const identity = JSON.stringify([key, oldId ?? [...values]]);
    if (read.has(identity)) return 'that repeats an earlier one left out';
    read.add(identity);
    return null;
  }

  return {
    /** Null for a row that is left out. */
    read(row: RawRow, devicesOf: (ids: readonly unknown[]) => readonly ReadDevice[]): RawRow | null {
      const values = valuesOf(row);
      const key = String(firstOf(values, preset.fields.key ?? []) ?? '').trim();
      const oldId = firstOf(values, preset.fields['metadata.oldId'] ?? []);
      const listed = devicesOf([oldId, key]);
      const why = whyLeftOut(values, key, oldId);
      if (why !== null) {
        rowsLeftOut.set(why, (rowsLeftOut.get(why) ?? 0) + 1);
        return null;
      }
      for (const [column, what] of Object.entries(preset.lost ?? {})) {
        const value = values.get(plain(column));
        if (!isEmpty(value) && !['0', 'false'].includes(wordOf(value))) lose(what);
      }
      const fields = fieldsOf(values);
      const all = distinct([...inlineDevices(values, preset.devices), ...listed]);
      for (const { hostId } of all) {
        if (hostId === '') lose('devices without an id', 'device');
        if (hostId.length > MAX_HOST) lose(`ids of more than ${MAX_HOST} characters`, 'device');
      }
      const devices = all.filter(({ hostId }) => hostId !== '' && hostId.length <= MAX_HOST);
      if (devices.length > 0) fields.set('devices', devices);
      if (devices.length > Number(fields.get('maxActivations') ?? Infinity)) overLimit += 1;
      for (const [column, value] of row.cells) {
        const meant = mapping.get(column);
        if (meant) fields.set(meant, value);
        else if (meant === undefined && !used.has(plain(column)) && !isEmpty(value)) leftOut.add(column);
      }
      return { ...row, cells: [...fields].filter(([, value]) => !isEmpty(value)) };
    },
    /** Notes to show before anything is sent. */
    notes: (): readonly string[] => [
      `read as a file of ${name}`,
      ...[...rowsLeftOut].map(([why, rows]) => (why === TEST ? leftOutTests(rows) : `${count(rows, 'row')} ${why}`)),
      ...[...lost].map(([what, { noun, times }]) => `not kept: ${what} (${count(times, noun)})`),
      ...(overLimit === 0 ? [] : [`${count(overLimit, 'key')} with more devices than slots taken as they are`]),
      ...(leftOut.size === 0 ? [] : [`columns left out: ${[...leftOut].join(', ')}`]),
    ],
  };
}

/** The reason to leave out a key of a test. */
const TEST = 'test';

const leftOutTests = (keys: number): string =>
  `${count(keys, 'test key')} left out; --test-keys takes ${keys === 1 ? 'it' : 'them'} in`;

const columnsOf = ({ fields, blocked, blockedUnless, lost, features = [], ...preset }: Preset): readonly string[] => [
  ...Object.values(fields)
    .flat()
    .flatMap((source) => source.split(' + ')),
  ...[blocked, blockedUnless, lost].flatMap((columns) => Object.keys(columns ?? {})),
  ...features,
  ...[preset.daysFromFirstUse, preset.test, preset.devices?.inColumn].filter((column) => column !== undefined),
];

/** The longest key that the service accepts. Source: API description, "Limits". */
const MAX_KEY = 256;
