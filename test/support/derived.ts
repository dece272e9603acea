import { expect } from 'vitest';
import { phrasesOf } from '../../src/store/search.ts';
import type { Row } from './engines.ts';

type Contents = Readonly<Record<string, readonly Row[]>>;

/** Tables that say nothing of their own: lists of keys find what other tables hold by them. */
export const derivedTables: readonly string[] = ['search_phrases', 'license_metadata'];

/** The derived tables hold what follows from the others, and nothing else. */
export function expectDerived(contents: Contents): void {
  expect(sorted(contents.search_phrases)).toEqual(sorted(phrasesIn(contents)));
  expect(sorted(contents.license_metadata)).toEqual(sorted(entriesIn(contents)));
}

function phrasesIn({ customers = [], devices = [], licenses = [] }: Contents): Row[] {
  const rows = (account: unknown, kind: string, owner: unknown, detail: unknown, ...texts: unknown[]) =>
    phrasesOf(...texts.map((text) => (typeof text === 'string' ? text : null))).map((phrase) => ({
      account_id: account,
      phrase,
      kind,
      owner_id: owner,
      detail,
    }));
  return [
    ...customers.flatMap((one) => rows(one.account_id, 'customer', one.id, '', one.name, one.email)),
    ...devices.flatMap((one) => rows(one.account_id, 'device', one.license_id, one.host_id, one.host_id, one.tag)),
    ...licenses.flatMap((one) => rows(one.account_id, 'license', one.id, '', one.reference)),
  ];
}

function entriesIn({ licenses = [] }: Contents): Row[] {
  return licenses.flatMap(({ account_id, id, metadata }) =>
    Object.entries(JSON.parse(String(metadata))).map(([name, value]) => ({
      account_id,
      name,
      value: String(value),
      license_id: id,
    })),
  );
}

const sorted = (rows: readonly Row[] = []): string[] =>
  rows.map((row) => JSON.stringify(Object.entries(row).toSorted(([one], [other]) => (one < other ? -1 : 1)))).sort();
