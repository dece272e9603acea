import { isIP } from 'node:net';
import { isoDate } from '../../../values/date-format.ts';
import { parseJson } from '../../../values/json.ts';
import type { RawRow } from '../raw-row.ts';
import { presets } from './index.ts';
import type { DeviceColumns, Source } from './preset.ts';
import type { SystemName } from './systems.ts';
import { firstOf, plain, type Values, valuesOf } from './values.ts';

/** The devices in a column of a row. */
export function inlineDevices(values: Values, columns: DeviceColumns | undefined): readonly ReadDevice[] {
  const listed = columns?.inColumn === undefined ? undefined : values.get(plain(columns.inColumn));
  const devices: unknown = typeof listed === 'string' ? parsed(listed) : listed;
  if (columns === undefined || !Array.isArray(devices)) return [];
  return devices.map((device) => deviceOf(valuesOf({ cells: Object.entries(Object(device)) }), columns));
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** Two rows of one host are one device. */
export const distinct = (devices: readonly ReadDevice[]): readonly ReadDevice[] => [
  ...new Map(devices.map((device) => [device.hostId, device])).values(),
];

/** The limits of the service. Source: API description, "Limits". */
export const MAX_HOST = 64;
const MAX_TAG = 64;

export interface ReadDevice extends Readonly<Record<string, unknown>> {
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

/** The columns of a file of devices without a known system. */
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
    /** The number of devices whose keys were not read. */
    unmatched: (): number => [...open].reduce((sum, id) => sum + (byKey.get(id)?.length ?? 0), 0),
  };
}
