import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import { codeOfRefusal } from '../failure/report.ts';
import { isRefusal } from '../request/changes.ts';
import type { RunRow, Settled } from '../state/open-run.ts';
import type { Lane } from './lane.ts';
import type { Body } from './operation.ts';
import { type BulkRun, rowKey } from './run.ts';

interface Sending {
  readonly client: Client;
  readonly lane: Lane;
  readonly stop: AbortSignal;
  fill(body: Body): Body;
  onAnswer(row: Settled): void;
}

/** How long an answer is in memory alone at most: a row whose answer is lost is sent again, under its key. */
const KEPT_MS = 250;

/** Sends the rows that are open. A row that the service refuses is noted, and the others go on; other errors end the run. */
export async function sendRows(run: BulkRun, { client, lane, stop, fill, onAnswer }: Sending): Promise<void> {
  const answers: Settled[] = [];
  let failure: unknown = null;

  /** The open rows. Each part of them is noted as sent before it is, together with the answers so far. */
  function* openRows(): Generator<RunRow> {
    for (let last = 0; ; ) {
      const page = run.takeOpen(last, answers.splice(0));
      yield* page;
      const end = page.at(-1);
      if (end === undefined) return;
      last = end.row;
    }
  }

  async function sendRow({ row, body, attempt }: RunRow): Promise<Settled> {
    const { operation } = run;
    const { id, mode } = run.run;
    try {
      const call = { idempotencyKey: rowKey(id, row, attempt), signal: stop };
      const { status = operation.done, ...result } = await operation.send(client, fill(body), call, mode);
      return { row, kind: 'done', status, result, error: null };
    } catch (error) {
      if (!isOfThisRow(error)) throw error;
      const code = codeOfRefusal(error);
      const kind = unknownCodes.includes(code) ? 'unknown' : 'failed';
      return { row, kind, status: kind, result: {}, error: { code, status: error.status, message: error.message } };
    }
  }

  function keepAnswers(): void {
    if (answers.length > 0) run.keepAnswers(answers.splice(0));
  }

  const timer = setInterval(() => {
    try {
      keepAnswers();
    } catch (error) {
      failure = error;
    }
  }, KEPT_MS);
  try {
    await lane.each(openRows(), async (row) => {
      const answer = await sendRow(row);
      if (failure !== null) throw failure;
      answers.push(answer);
      onAnswer(answer);
    });
  } finally {
    clearInterval(timer);
    if (failure === null) keepAnswers();
  }
}

/** Errors that tell only that an earlier request had this key: whether it made something, the row does not know. */
const unknownCodes = ['idempotency_key_reused', 'legacy_record', 'stored_response_missing'];

/** Whether an error says nothing about the other rows. */
const isOfThisRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && isRefusal(error) && error.reason !== 'issueLimit';
