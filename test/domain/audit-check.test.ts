import { describe, expect, it } from 'vitest';
import type { AccountId, Instant } from '../../src/contract/scalars.ts';
import { contentOf, FIRST_HASH, linkOf, signCheckpoint } from '../../src/domain/audit-chain.ts';
import { type AuditWitnesses, checkAudit } from '../../src/domain/audit-check.ts';
import { createSigner, toJwk } from '../../src/domain/license-file/sign.ts';
import { privatePems, publicPemOf } from './examples.ts';

const [pem, otherPem] = privatePems;
const signer = createSigner(pem);
const keys = [toJwk(publicPemOf(pem))];
const accountId = 'acc_1' as AccountId;
const at = '2026-11-21T10:00:00.000Z' as Instant;

interface Row {
  readonly seq: number;
  readonly hash: string;
  readonly [name: string]: unknown;
}

/** A log of so many rows. */
function logOf(length: number, text = 'row'): Row[] {
  let hash = FIRST_HASH;
  return Array.from({ length }, (_, index) => {
    const row = { seq: index + 1, details: { text: `${text} ${index}`, nested: { b: 1, a: [true, null] } }, hash };
    hash = linkOf(hash, contentOf(row));
    return { ...row, hash };
  });
}

const checkpointAt = (row: Row | undefined, key = signer) =>
  signCheckpoint(key, { accountId, seq: row?.seq ?? 0, hash: row?.hash ?? '', at });

const nothing = { seq: 0, hash: FIRST_HASH };

function problemsOf(
  rows: readonly Row[],
  { head = rows.at(-1) ?? nothing, ...more }: Partial<AuditWitnesses> & { head?: Row | typeof nothing } = {},
) {
  const check = checkAudit({ stored: [], kept: null, keys, ...more });
  for (const row of rows) check.add(row);
  return check.end(head).map(({ kind, seq }) => `${kind} ${seq}`);
}

describe('the check of an audit log', () => {
  const log = logOf(6);
  const head = log[5] as Row;

  it('finds nothing wrong with one that is whole, nor with an empty one', () => {
    const stored = [checkpointAt(log[2]), checkpointAt(head)];
    expect(problemsOf(log, { stored, kept: checkpointAt(log[3]) })).toEqual([]);
    expect(problemsOf([])).toEqual([]);
  });

  it('hashes no names that stand beside a row', () => {
    const names = { tokenName: 'Shop', productName: 'Editor', customerName: 'Ada', customerEmail: null };
    const named = log.map((row) => ({ ...row, ...names }));
    expect(problemsOf(named)).toEqual([]);
    const changed = named.map((row) => (row.seq === 3 ? { ...row, details: {} } : row));
    expect(problemsOf(changed)).toEqual(['changed 3']);
  });

  it.each<[string, Row[], string[]]>([
    ['a changed row', log.map((row) => (row.seq === 3 ? { ...row, details: { text: 'other' } } : row)), ['changed 3']],
    [
      'a changed hash',
      log.map((row) => (row.seq === 3 ? { ...row, hash: FIRST_HASH } : row)),
      ['changed 3', 'changed 4'],
    ],
    ['a removed row', log.filter(({ seq }) => seq !== 3), ['missing 3']],
    ['the first row removed', log.slice(1), ['missing 1']],
    ['a removed end', log.slice(0, 4), ['cut_off 5']],
    ['all removed', [], ['cut_off 1']],
    ['two rows that changed places', [0, 2, 1, 3, 4, 5].map((index) => log[index] as Row), ['out_of_order 2']],
    ['a row that is there twice', [0, 1, 1, 2, 3, 4, 5].map((index) => log[index] as Row), ['out_of_order 2']],
    [
      'two rows that changed their numbers too',
      log.map((row) => ({ ...(log[[0, 2, 1, 3, 4, 5][row.seq - 1] ?? 0] as Row), seq: row.seq })),
      ['changed 2', 'changed 3', 'changed 4'],
    ],
  ])('names %s', (_, rows, problems) => {
    expect(problemsOf(rows, { head })).toEqual(problems);
  });

  const forged = logOf(6, 'forged');
  const older = log.slice(0, 4);
  const wrongKey = checkpointAt(log[3], createSigner(otherPem));
  const changed = { ...checkpointAt(log[3]), at: '2026-11-22T10:00:00.000Z' as Instant };
  const put = { stored: [checkpointAt(older[3])], kept: checkpointAt(head) };

  it.each<[string, Row[], Partial<AuditWitnesses> & { head?: Row }, string[]]>([
    ['an end that was removed with its head, by a checkpoint', older, { stored: [checkpointAt(head)] }, ['cut_off 6']],
    [
      'a log that was written anew, by a checkpoint',
      forged,
      { stored: [checkpointAt(log[3])] },
      ['checkpoint_mismatch 4'],
    ],
    ['a log that was written anew, by its head', forged, { head }, ['not_the_head 6']],
    ['a checkpoint that was signed by another key', log, { stored: [wrongKey] }, ['checkpoint_signature 4']],
    ['a checkpoint that was changed', log, { stored: [changed] }, ['checkpoint_signature 4']],
    ['an older database, by a checkpoint that was kept elsewhere', older, put, ['older_database 6']],
  ])('names %s', (_, rows, witnesses, problems) => {
    expect(problemsOf(rows, witnesses)).toEqual(problems);
  });
});
