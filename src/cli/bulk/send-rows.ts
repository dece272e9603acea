import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import { toInstant } from '../../domain/time.ts';
import { LocalError } from '../failure/errors.ts';
import { codeOfRefusal } from '../failure/report.ts';
import type { Io } from '../io.ts';
import { isRefusal } from '../request/changes.ts';
import type { BulkOperation } from './operation.ts';
import { eachAtPace, type Lane } from './pace.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { doneRow, failedRow, type RowState } from './row-states.ts';
import { rowKey } from './run.ts';
import type { RunJournal } from './run-journal.ts';
import type { OpenRun } from './run-store.ts';

interface Sending {
  readonly open: OpenRun;
  readonly operation: BulkOperation;
  readonly client: Client;
  readonly lane: Lane;
  /** What is known of each row, the first at 1; changed as rows are answered. */
  readonly states: RowState[];
  /** A body with the ids of what the run has prepared. */
  fill(body: RowBody['body']): RowBody['body'];
  readonly io: Io;
  /** Called after each answer. */
  onAnswer(state: RowState): void;
}

/**
 * Sends the rows that are open, several at a time. A row that the service refuses is noted, and the others go on; any
 * other error ends the run, which a later one takes up.
 */
export async function sendRows(sending: Sending): Promise<void> {
  const { open, states, lane, io } = sending;
  const todo = states.flatMap(({ kind }, row) => (row > 0 && kind === 'open' ? [row] : []));
  const marks = markAhead(open, todo, io);
  try {
    await eachAtPace(readRows(open, todo), lane, async ({ row, body, place }) => {
      await marks.cover(place);
      await sendRow(sending, row, body);
    });
  } finally {
    await synced(open.journal);
  }
}

async function sendRow(
  { open, operation, client, states, fill, io, onAnswer }: Sending,
  row: number,
  body: RowBody['body'],
): Promise<void> {
  const { run, journal } = open;
  const attempt = states[row]?.attempt ?? 1;
  const call = { idempotencyKey: rowKey(run.id, row, attempt), signal: io.stop };
  try {
    const { status, result } = await operation.send(client, fill(body), run.mode, call);
    journal.add({ type: 'done', row, status, attempt, result });
    states[row] = doneRow(status, attempt, result);
  } catch (error) {
    if (!isOfThisRow(error)) throw error;
    const { status, message } = error;
    const failed = { code: codeOfRefusal(error), status, message };
    journal.add({ type: 'failed', row, attempt, error: failed });
    states[row] = failedRow(attempt, failed);
  }
  onAnswer(states[row]);
}

/** The bodies of the rows to be sent, in their order; `place` is how many of them come so far. */
function* readRows({ rows, run }: OpenRun, todo: readonly number[]) {
  const bodies = rows[Symbol.iterator]();
  let at = 0;
  for (const [index, row] of todo.entries()) {
    let next = bodies.next();
    for (at += 1; at < row && !next.done; at += 1) next = bodies.next();
    if (next.done) throw new LocalError(`row ${row} of run ${run.id} is not written down`);
    yield { row, body: next.value.body, place: index + 1 };
  }
  bodies.return?.();
}

/** Whether an error says nothing about the other rows. */
const isOfThisRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && isRefusal(error) && error.reason !== 'issueLimit';

/** How many rows are written down at a time as being sent. */
const AHEAD = 128;

/** Writes down which rows may have been sent, before they are; each write covers many. */
function markAhead({ journal, lines }: OpenRun, todo: readonly number[], io: Io) {
  let marked = lines.reduce((most, line) => (line.type === 'sending' ? Math.max(most, line.upTo) : most), 0);
  let marking: Promise<void> = Promise.resolve();

  function mark(upTo: number): Promise<void> {
    if (upTo <= marked) return marking;
    marked = upTo;
    journal.add({ type: 'sending', upTo, at: toInstant(io.now()) });
    marking = synced(journal);
    return marking;
  }

  return {
    /** Resolves once the first `count` rows of those to be sent are covered. */
    cover: (count: number): Promise<void> => {
      const row = todo[count - 1] ?? 0;
      if (row <= marked) return marking;
      return mark(todo[Math.min(count - 1 + AHEAD, todo.length) - 1] ?? row);
    },
  };
}

/** The journal on the disk. Rejects with `LocalError`. */
async function synced(journal: RunJournal): Promise<void> {
  try {
    await journal.sync();
  } catch (cause) {
    throw new LocalError(`cannot write down what was sent (${cause instanceof Error ? cause.message : cause})`, [
      'What the service has done is not lost: the same command gets the same answers, within a day.',
    ]);
  }
}
