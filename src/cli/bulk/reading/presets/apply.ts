import { isIP } from 'node:net';
import { count } from '../../../output/words.ts';
import { isoDate } from '../../../values/date-format.ts';
import type { RawRow } from '../raw-row.ts';
import { presets } from './index.ts';
import type { DeviceColumns, Preset, Source } from './preset.ts';
import { type SystemName, systems } from './systems.ts';

/** Names that people and programs write in several ways are the same: `Fully Refunded?`, `fully_refunded`. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** The system whose files have these columns; null where none is recognised. */
export function recognise(names: readonly string[]): SystemName | null {
  const there = new Set(names.map(plain));
  return systems.find((name) => presets[name].recognisedBy.every((column) => there.has(plain(column)))) ?? null;
}

/** The values of a row by the plain names of their columns. */
type Values = ReadonlyMap<string, unknown>;

const valuesOf = ({ cells }: Pick<RawRow, 'cells'>): Values =>
  new Map(cells.map(([name, value]) => [plain(name), value] as const).toReversed());

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** The first value of a source that is not empty; undefined for none. */
function firstOf(values: Values, source: Source): unknown {
  for (const column of [source].flat()) {
    const found = column
      .split(' + ')
      .map((one) => values.get(plain(one)))
      .filter((value) => !isEmpty(value));
    if (found.length > 1) return found.join(' ');
    if (found.length === 1) return found[0];
  }
  return undefined;
}

const wordOf = (value: unknown): string =>
  String(value ?? '')
    .trim()
    .toLowerCase();

const isTrue = (value: unknown): boolean => ['true', '1', 'yes'].includes(wordOf(value));

/** What systems write for no limit and for no end. */
const noLimit = /^(?:0|-\d+|unlimited|none|∞)$/;
const noEnd =
  /^(?:0|-62135596800(?:000)?|253402300799(?:999)?|0000-00-00.*|0001-01-01.*|never|none|lifetime|unlimited)$/;

interface Options {
  /** By the value of a product in the files, an id or a name. */
  readonly productMap: ReadonlyMap<string, string>;
  readonly takesTests: boolean;
  /** Columns that the command line names; they go before the columns of the preset. */
  readonly mapping: ReadonlyMap<string, string>;
}

/** Reads the rows of a system as rows of lkm, and counts what is left out. */
export function openPreset(name: SystemName, { productMap, takesTests, mapping }: Options) {
  const preset = presets[name];
  const used = new Set(columnsOf(preset).map(plain));
  const leftOut = new Set<string>();
  const lost = new Map<string, { readonly noun: string; times: number }>();
  const rowsLeftOut = new Map<string, number>();
  let overLimit = 0;

  function fieldsOf(values: Values): Map<string, unknown> {
    const fields = new Map(Object.entries(preset.fields).map(([field, source]) => [field, firstOf(values, source)]));
    if (noLimit.test(wordOf(fields.get('maxActivations')))) fields.delete('maxActivations');
    for (const date of ['expirationDate', 'createdAt']) if (noEnd.test(wordOf(fields.get(date)))) fields.delete(date);
    const days = Number(preset.daysFromFirstUse && values.get(plain(preset.daysFromFirstUse)));
    if (days > 0 && isEmpty(fields.get('expirationDate'))) fields.set('expiresAfter', `P${days}D`);
    const products = [preset.fields.productId ?? []].flat().map((column) => String(values.get(plain(column))));
    const mapped = products.find((one) => productMap.has(one));
    if (mapped !== undefined) fields.set('productId', productMap.get(mapped));
    const isListed = ([column, words]: readonly [string, readonly string[]], missing: boolean) =>
      values.has(plain(column)) && words.includes(wordOf(values.get(plain(column)))) !== missing;
    const isBlocked =
      Object.entries(preset.blocked ?? {}).some((one) => isListed(one, false)) ||
      Object.entries(preset.blockedUnless ?? {}).some((one) => isListed(one, true));
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
  function whyLeftOut(values: Values, key: string): string | null {
    const isTest = preset.test !== undefined && isTrue(values.get(plain(preset.test)));
    if (isTest && !takesTests) return TEST;
    if (key === '') return 'without a key left out';
    return key.length > MAX_KEY ? `with a key of more than ${MAX_KEY} characters left out` : null;
  }

  return {
    /** Null for a row that is left out. */
    read(row: RawRow, devicesOf: (ids: readonly unknown[]) => readonly ReadDevice[]): RawRow | null {
      const values = valuesOf(row);
      const key = String(firstOf(values, preset.fields.key ?? []) ?? '');
      const listed = devicesOf([firstOf(values, preset.fields['metadata.oldId'] ?? []), key]);
      const why = whyLeftOut(values, key);
      if (why !== null) {
        rowsLeftOut.set(why, (rowsLeftOut.get(why) ?? 0) + 1);
        return null;
      }
      for (const [column, what] of Object.entries(preset.lost ?? {})) {
        const value = values.get(plain(column));
        if (!isEmpty(value) && !['0', 'false', 'null'].includes(wordOf(value))) lose(what);
      }
      const fields = fieldsOf(values);
      const all = distinct([...inlineDevices(values, preset.devices), ...listed]);
      const devices = all.filter(({ hostId }) => hostId.length <= MAX_HOST);
      for (const _ of all.slice(devices.length)) lose(`ids of more than ${MAX_HOST} characters`, 'device');
      if (devices.length > 0) fields.set('devices', devices);
      if (devices.length > Number(fields.get('maxActivations') ?? Infinity)) overLimit += 1;
      for (const [column, value] of row.cells) {
        const meant = mapping.get(column);
        if (meant) fields.set(meant, value);
        else if (meant === undefined && !used.has(plain(column)) && !isEmpty(value)) leftOut.add(column);
      }
      return { ...row, cells: [...fields].filter(([, value]) => !isEmpty(value)) };
    },
    /** What is to be said before anything is sent. */
    notes: (): readonly string[] => [
      `read as a file of ${name}`,
      ...[...rowsLeftOut].map(([why, rows]) => (why === TEST ? leftOutTests(rows) : `${count(rows, 'row')} ${why}`)),
      ...[...lost].map(([what, { noun, times }]) => `not kept: ${what} (${count(times, noun)})`),
      ...(overLimit === 0 ? [] : [`${count(overLimit, 'key')} with more devices than slots taken as they are`]),
      ...(leftOut.size === 0 ? [] : [`columns left out: ${[...leftOut].join(', ')}`]),
    ],
  };
}

/** Why a row is left out: it is a key of a test. */
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

function inlineDevices(values: Values, columns: DeviceColumns | undefined): readonly ReadDevice[] {
  const listed = columns?.inColumn === undefined ? undefined : values.get(plain(columns.inColumn));
  const devices: unknown = typeof listed === 'string' ? parsed(listed) : listed;
  if (columns === undefined || !Array.isArray(devices)) return [];
  return devices.map((device) => deviceOf(valuesOf({ cells: Object.entries(Object(device)) }), columns));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Two rows of one host are one device. */
const distinct = (devices: readonly ReadDevice[]): readonly ReadDevice[] => [
  ...new Map(devices.map((device) => [device.hostId, device])).values(),
];

/** What the service takes at most. Source: API description, "Limits". */
const [MAX_KEY, MAX_HOST, MAX_TAG] = [256, 64, 64];

interface ReadDevice extends Readonly<Record<string, unknown>> {
  readonly hostId: string;
}

function deviceOf(values: Values, { hostId, deviceTag, ipAddress, activationTime }: DeviceColumns): ReadDevice {
  const text = (source: Source | undefined) => {
    const value = source === undefined ? undefined : firstOf(values, source);
    return value === undefined ? undefined : String(value).trim();
  };
  const address = text(ipAddress) ?? '';
  const time = text(activationTime);
  const iso = time === undefined ? undefined : (isoDate(time, 'epoch') ?? isoDate(time, 'ymd') ?? time);
  const at = iso === undefined || Number.isNaN(Date.parse(iso)) ? iso : new Date(iso).toISOString();
  const device = { hostId: text(hostId) ?? '', deviceTag: text(deviceTag)?.slice(0, MAX_TAG) };
  return { ...device, ...(isIP(address) && { ipAddress: address }), activationTime: at };
}

/** How files of devices are read where no system is named. */
const ownDevices: DeviceColumns = {
  keyId: ['key', 'licenseKey', 'licenseId', 'licenseKeyId'],
  hostId: ['hostId', 'host', 'fingerprint', 'identifier'],
  deviceTag: ['deviceTag', 'tag', 'name'],
  ipAddress: ['ipAddress', 'ip'],
  activationTime: ['activationTime', 'activatedAt', 'createdAt'],
};

/** Joins a file of devices to keys by their ids or by the keys themselves. */
export function joinDevices(rows: readonly RawRow[], system: SystemName | undefined) {
  const columns = (system && presets[system].devices) ?? ownDevices;
  const byKey = Map.groupBy(rows.map(valuesOf), (values) =>
    String(firstOf(values, columns.keyId ?? []) ?? firstOf(values, ownDevices.keyId ?? []) ?? ''),
  );
  const open = new Set(byKey.keys());
  return {
    of: (ids: readonly unknown[]): readonly ReadDevice[] =>
      ids.flatMap((id) => {
        open.delete(String(id));
        return (byKey.get(String(id)) ?? []).map((values) => deviceOf(values, columns));
      }),
    /** How many belong to no key that was read. */
    unmatched: (): number => [...open].reduce((sum, id) => sum + (byKey.get(id)?.length ?? 0), 0),
  };
}
