import { expect } from 'vitest';
import type { Row } from './engines.ts';

/** The promised slots of licences are counted rightly, there is room for all, and no device has one. */
export function expectSlots({
  licenses = [],
  devices = [],
  ...tables
}: Readonly<Record<string, readonly Row[]>>): void {
  for (const { id, slot_year: year, promised_slots, activations, max_activations: limit } of licenses) {
    const ofLicense = (row: Row) => row.license_id === id;
    const promised = (tables.slot_promises ?? []).filter((row) => ofLicense(row) && row.calendar_year === year);
    expect(promised_slots, 'promised slots').toBe(promised.length);
    if (promised.length > 0) expect(Number(activations) + promised.length).toBeLessThanOrEqual(Number(limit));
    const hosts = devices.filter(ofLicense).map(({ host_id }) => host_id);
    expect(promised.filter(({ host_id }) => hosts.includes(host_id))).toEqual([]);
  }
}

/** The hosts that slots are promised to, also in years that are over. */
export const promisedHosts = ({ slot_promises = [] }: Readonly<Record<string, readonly Row[]>>): unknown[] =>
  slot_promises.map(({ host_id }) => host_id).sort();
