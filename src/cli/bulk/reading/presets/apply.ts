import { count } from '../../../output/words.ts';
import type { RawRow } from '../raw-row.ts';
import { distinct, inlineDevices, MAX_HOST, type ReadDevice } from './devices.ts';
import { fieldsOf } from './fields.ts';
import { presets } from './index.ts';
import type { Preset } from './preset.ts';
import { type SystemName, systems } from './systems.ts';
import { firstOf, isEmpty, isTrue, plain, type Values, valuesOf, wordOf } from './values.ts';

/** The system whose files have these columns; null for an unknown one. */
export function recognise(names: readonly string[]): SystemName | null {
  const there = new Set(names.map(plain));
  return systems.find((name) => presets[name].recognisedBy.every((column) => there.has(plain(column)))) ?? null;
}

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
  const columnsLeftOut = new Set<string>();
  const lost = new Map<string, { readonly noun: string; times: number }>();
  const rowsLeftOut = new Map<string, number>();
  const seen = new Set<string>();
  let overLimit = 0;

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
    if (seen.has(identity)) return 'that repeats an earlier one left out';
    seen.add(identity);
    return null;
  }

  function countLost(values: Values): void {
    for (const [column, what] of Object.entries(preset.lost ?? {})) {
      const value = values.get(plain(column));
      if (!isEmpty(value) && !['0', 'false'].includes(wordOf(value))) lose(what);
    }
  }

  /** The devices that lkm can keep. */
  function kept(devices: readonly ReadDevice[]): readonly ReadDevice[] {
    for (const { hostId } of devices) {
      if (hostId === '') lose('devices without an id', 'device');
      if (hostId.length > MAX_HOST) lose(`ids of more than ${MAX_HOST} characters`, 'device');
    }
    return devices.filter(({ hostId }) => hostId !== '' && hostId.length <= MAX_HOST);
  }

  /** The fields of the columns that `mapping` names; other columns that the preset does not use are left out. */
  function mappedFields({ cells }: RawRow): [string, unknown][] {
    return cells.flatMap(([column, value]): [string, unknown][] => {
      const field = mapping.get(column);
      if (field) return [[field, value]];
      if (field === undefined && !used.has(plain(column)) && !isEmpty(value)) columnsLeftOut.add(column);
      return [];
    });
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
      countLost(values);
      const fields = fieldsOf(name, preset, values, productMap);
      const devices = kept(distinct([...inlineDevices(values, preset.devices), ...listed]));
      if (devices.length > 0) fields.set('devices', devices);
      if (devices.length > Number(fields.get('maxActivations') ?? Infinity)) overLimit += 1;
      const cells = new Map([...fields, ...mappedFields(row)]);
      return { ...row, cells: [...cells].filter(([, value]) => !isEmpty(value)) };
    },
    /** Notes to show before anything is sent. */
    notes: (): readonly string[] => [
      `read as a file of ${name}`,
      ...[...rowsLeftOut].map(([why, rows]) => (why === TEST ? leftOutTests(rows) : `${count(rows, 'row')} ${why}`)),
      ...[...lost].map(([what, { noun, times }]) => `not kept: ${what} (${count(times, noun)})`),
      ...(overLimit === 0 ? [] : [`${count(overLimit, 'key')} with more devices than slots taken as they are`]),
      ...(columnsLeftOut.size === 0 ? [] : [`columns left out: ${[...columnsLeftOut].join(', ')}`]),
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
