import type { Jwk } from '../contract/signing-keys.ts';
import { type Checkpoint, contentOf, FIRST_HASH, isSigned, linkOf } from './audit-chain.ts';

/** A problem of an audit log. */
export interface AuditProblem {
  readonly kind:
    | 'missing'
    | 'out_of_order'
    | 'changed'
    | 'cut_off'
    | 'not_the_head'
    | 'checkpoint_signature'
    | 'checkpoint_mismatch'
    | 'older_database';
  /** The row with the problem, or the first of several rows. */
  readonly seq: number;
  readonly text: string;
}

/** A row as far as the check looks at it; all its other members are hashed. */
interface Row {
  readonly seq: number;
  readonly hash: string;
}

/** The checkpoints and keys that the rows are checked against. */
export interface AuditWitnesses {
  /** The checkpoints of the service. */
  readonly stored: readonly Checkpoint[];
  /** A checkpoint that was kept elsewhere. */
  readonly kept: Checkpoint | null;
  /** The public keys of the account. */
  readonly keys: readonly Jwk[];
}

/** Begins the check of an audit log, row by row. */
export function checkAudit({ stored, kept, keys }: AuditWitnesses) {
  const problems: AuditProblem[] = [];
  const report = (kind: AuditProblem['kind'], seq: number, text: string) => void problems.push({ kind, seq, text });
  const nameOf = (checkpoint: Checkpoint) =>
    checkpoint === kept ? 'the checkpoint that was given' : `the checkpoint of row ${checkpoint.seq}`;

  const checkpoints = kept === null ? stored : [...stored, kept];
  const bySeq = Map.groupBy(checkpoints, ({ seq }) => seq);
  for (const checkpoint of checkpoints) {
    if (isSigned(checkpoint, keys)) continue;
    report('checkpoint_signature', checkpoint.seq, `no key of the account has signed ${nameOf(checkpoint)}`);
  }

  /** The range of row numbers that are missing, and the rows found out of order. */
  const missing: (readonly [from: number, to: number])[] = [];
  const displaced = new Set<number>();
  let last: Row = { seq: 0, hash: FIRST_HASH };

  function reportBeyondEnd(checkpoint: Checkpoint): void {
    const end = last.seq === 0 ? 'there is none' : `the last one is ${last.seq}`;
    const text = `${nameOf(checkpoint)} vouches for row ${checkpoint.seq}, and ${end}`;
    if (checkpoint === kept) report('older_database', checkpoint.seq, `${text}: an older database was put back`);
    else report('cut_off', checkpoint.seq, text);
  }

  return {
    /** Takes the next row, in the order in which they are listed. */
    add(row: Row): void {
      if (row.seq <= last.seq) {
        displaced.add(row.seq);
        report('out_of_order', row.seq, `row ${row.seq} stands behind row ${last.seq}`);
        return;
      }
      const follows = row.seq === last.seq + 1;
      if (!follows) missing.push([last.seq + 1, row.seq - 1]);
      if (follows && linkOf(last.hash, contentOf(row)) !== row.hash) {
        report('changed', row.seq, `row ${row.seq} was changed: its hash does not fit`);
      }
      for (const checkpoint of bySeq.get(row.seq) ?? []) {
        if (checkpoint.hash === row.hash) continue;
        report('checkpoint_mismatch', row.seq, `row ${row.seq} is not the one that ${nameOf(checkpoint)} vouches for`);
      }
      last = row;
    },

    /** Ends the check with the last row that the service names; returns the problems. */
    end(head: Row): readonly AuditProblem[] {
      for (const [from, to] of missing) {
        const found = [...displaced].filter((seq) => from <= seq && seq <= to);
        if (found.length <= to - from) report('missing', from, `${rows(from, to)} missing`);
      }
      if (last.seq < head.seq) report('cut_off', last.seq + 1, `${rows(last.seq + 1, head.seq)} missing at the end`);
      else if (last.hash !== head.hash)
        report('not_the_head', last.seq, `row ${last.seq} is not the last one numbered`);
      const end = Math.max(last.seq, head.seq);
      for (const checkpoint of checkpoints) if (checkpoint.seq > end) reportBeyondEnd(checkpoint);
      return problems.sort((a, b) => a.seq - b.seq);
    },
  };
}

const rows = (from: number, to: number): string => (from === to ? `row ${from} is` : `rows ${from} to ${to} are`);
