import { isRepeatable } from '../request/repeatable.ts';
import type { BulkRun } from './run.ts';
import type { Failure, ReadLine } from './run-journal.ts';

/** What is known of a row. */
export interface RowState {
  /** `open`: not known to be answered; `unknown`: sent so long ago that only a person can tell. */
  readonly kind: 'open' | 'done' | 'failed' | 'unknown';
  /** What became of it, in a word of the command: `created`. */
  readonly status: string;
  /** The number of its idempotency key, from 1: a row that is retried gets another. */
  readonly attempt: number;
  readonly result: Readonly<Record<string, unknown>>;
  readonly error: Failure | null;
}

/** Errors that tell only that an earlier request had this key: whether it made something, the row does not know. */
const unknownCodes = ['idempotency_key_reused', 'legacy_record', 'stored_response_missing'];

/** Reads from the journal of a run what has become of its rows; the first is at 1. */
export function readStates(
  { rows: count, createdAt }: Pick<BulkRun, 'rows' | 'createdAt'>,
  lines: Iterable<ReadLine>,
  now: number,
  repeatsSafely: boolean,
): RowState[] {
  // One object stands for all that are open: a run can have a million.
  const states: RowState[] = Array.from<RowState>({ length: count + 1 }).fill(openRow(1));
  const sentAt: (string | undefined)[] = [];
  const damage = watchForDamage(createdAt);
  let sentUpTo = 0;
  for (const line of lines) {
    damage.look(line);
    if (line.type === 'sending') {
      for (let row = sentUpTo + 1; row <= Math.min(line.upTo, count); row++) sentAt[row] = line.at;
      sentUpTo = Math.max(sentUpTo, line.upTo);
    } else if (line.type === 'again') {
      states[line.row] = openRow(line.attempt);
      sentAt[line.row] = line.at;
    } else if (line.type === 'done') states[line.row] = doneRow(line.status, line.attempt, line.result);
    else if (line.type === 'failed') states[line.row] = failedRow(line.attempt, line.error);
  }
  if (repeatsSafely) return states;
  const isLost = damage.isFound() && !isRepeatable(createdAt, now);
  return states.map((state, row) => {
    const at = sentAt[row];
    if (row === 0 || state.kind !== 'open') return state;
    if (at === undefined) return isLost ? { ...state, ...untold } : state;
    return isRepeatable(at, now) ? state : { ...state, ...unanswered };
  });
}

/**
 * Finds out whether a journal has lost lines, of which one may have said that rows were sent. A line that its writer did not
 * finish is none of them: rows are sent once it is on the disk, and the next process begins behind it.
 */
function watchForDamage(createdAt: string) {
  let begunAt: string | undefined;
  let isBroken = false;
  let isDamaged = false;
  return {
    look(line: ReadLine): void {
      if (line.type === 'begin') begunAt ??= line.at;
      isDamaged ||= isBroken && line.type !== 'begin';
      isBroken = line.type === 'broken';
    },
    // The first process begins when the run is made; where another is the first, its own line is lost.
    isFound: () => isDamaged || begunAt === undefined || !isRepeatable(createdAt, Date.parse(begunAt)),
  };
}

/** A row that is to be sent; `attempt` numbers its idempotency keys from 1. */
export const openRow = (attempt: number): RowState => ({
  kind: 'open',
  status: 'open',
  attempt,
  result: {},
  error: null,
});

const unanswered = {
  kind: 'unknown',
  status: 'unknown',
  error: {
    code: 'no_answer',
    status: null,
    message: 'no answer is known, and it was sent more than 23 hours ago, or the clock was set since',
  },
} as const;

const untold = {
  kind: 'unknown',
  status: 'unknown',
  error: {
    code: 'no_answer',
    status: null,
    message: 'nobody can tell whether it was sent: the journal of its run is damaged',
  },
} as const;

export const doneRow = (status: string, attempt: number, result: RowState['result']): RowState => ({
  kind: 'done',
  status,
  attempt,
  result,
  error: null,
});

export function failedRow(attempt: number, error: Failure): RowState {
  const kind = unknownCodes.includes(error.code) ? 'unknown' : 'failed';
  return { kind, status: kind, attempt, result: {}, error };
}

/** How many rows are of each kind. */
export function countStates(states: readonly RowState[]): Readonly<Record<RowState['kind'], number>> {
  const counted = { open: 0, done: 0, failed: 0, unknown: 0 };
  for (const [row, { kind }] of states.entries()) if (row > 0) counted[kind] += 1;
  return counted;
}
