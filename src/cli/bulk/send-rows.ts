import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import { codeOfRefusal } from '../failure/report.ts';
import type { Io } from '../io.ts';
import { isRefusal } from '../request/changes.ts';
import { type RunRow, type Settled, type StoredRun, settleRow, takeOpen } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import type { Lane } from './lane.ts';
import type { BulkOperation } from './operation.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { rowKey } from './run.ts';

interface Sending {
  readonly state: State;
  readonly stored: StoredRun;
  readonly operation: BulkOperation;
  readonly client: Client;
  readonly lane: Lane;
  /** A body with the ids of what the run has prepared. */
  fill(body: RowBody['body']): RowBody['body'];
  readonly io: Io;
  /** Called after each answer. */
  onAnswer(row: Settled): void;
}

/**
 * Sends the rows that are open, several at a time. A row that the service refuses is noted, and the others go on; any
 * other error ends the run, which a later one takes up.
 */
export async function sendRows(sending: Sending): Promise<void> {
  const { state, stored, operation, lane, io, onAnswer } = sending;
  const { repeatsSafely } = operation;
  const answers = keepAnswers(state, stored);

  /** The open rows. Each part of them is noted as sent before it is, together with the answers so far. */
  function* openRows(): Generator<RunRow> {
    for (let last = 0; ; ) {
      const page = state.transaction(() => {
        answers.write();
        return takeOpen(state, stored, last, { now: io.now(), repeatsSafely });
      });
      yield* page;
      const end = page.at(-1);
      if (end === undefined) return;
      last = end.row;
    }
  }

  try {
    await lane.each(openRows(), async (row) => {
      const answer = await sendRow(sending, row);
      answers.add(answer);
      onAnswer(answer);
    });
  } finally {
    answers.flush();
  }
}

/** Errors that tell only that an earlier request had this key: whether it made something, the row does not know. */
const unknownCodes = ['idempotency_key_reused', 'legacy_record', 'stored_response_missing'];

async function sendRow(
  { stored, operation, client, fill, io }: Sending,
  { row, body, attempt }: RunRow,
): Promise<Settled> {
  const { id, mode } = stored.run;
  try {
    const call = { idempotencyKey: rowKey(id, row, attempt), signal: io.stop };
    const { status, result } = await operation.send(client, fill(body), mode, call);
    return { row, kind: 'done', status, result, error: null };
  } catch (error) {
    if (!isOfThisRow(error)) throw error;
    const code = codeOfRefusal(error);
    const kind = unknownCodes.includes(code) ? 'unknown' : 'failed';
    return { row, kind, status: kind, result: {}, error: { code, status: error.status, message: error.message } };
  }
}

/** Whether an error says nothing about the other rows. */
const isOfThisRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && isRefusal(error) && error.reason !== 'issueLimit';

/** How long an answer is in memory alone at most: a row whose answer is lost is sent again, under its key. */
const KEPT_MS = 250;

/** Writes answers down, many at a time. */
function keepAnswers(state: State, stored: StoredRun) {
  const queue: Settled[] = [];
  let timer: NodeJS.Timeout | null = null;
  let failure: unknown = null;

  /** Called in a transaction. */
  function write(): void {
    for (const answer of queue.splice(0)) settleRow(state, stored, answer);
  }

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (failure === null && queue.length > 0) state.transaction(write);
  }

  function add(answer: Settled): void {
    if (failure !== null) throw failure;
    queue.push(answer);
    timer ??= setTimeout(() => {
      try {
        flush();
      } catch (error) {
        failure = error;
      }
    }, KEPT_MS);
  }

  return { add, write, flush };
}
