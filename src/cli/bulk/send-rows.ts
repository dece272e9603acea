import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import type { CommandContext } from '../context.ts';
import { codeOfRefusal } from '../failure/report.ts';
import { showBar } from '../output/progress.ts';
import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import { isRefusal } from '../request/changes.ts';
import { openClient } from '../request/connection.ts';
import { traced } from '../request/observe.ts';
import { openLane } from './lane.ts';
import type { Body, BulkOperation, Outcome } from './operation.ts';
import { type Preparing, prepare } from './preparation.ts';
import type { RawRow } from './reading/raw-row.ts';
import { rowKey, rowReference } from './run.ts';

/** A row of a run, before it is sent. */
export interface Row {
  /** Its number among all rows of the file, from 1. */
  readonly row: number;
  /** Its line in the file; null where there is no file. */
  readonly line: number | null;
  readonly body: Body;
  /** Its names and values as the file has them. */
  readonly input: RawRow['written'];
}

/** The last word of the service on a row: what was done, or why it was not. */
export interface SentRow extends Row {
  readonly outcome: Outcome | null;
  /** Whether it may have been done although its answer is an error. */
  readonly isUnknown?: boolean;
  readonly error: { readonly code: string; readonly status: number; readonly message: string } | null;
}

interface Sending extends Preparing {
  readonly rows: readonly Row[];
  readonly concurrency: number | undefined;
}

const DEFAULT_CONCURRENCY = 96;
/** A run can wait longer than a person: for a rate limit that is counted in minutes. */
const MAX_WAIT_MS = 600_000;

/**
 * Sends all rows and returns each, in their order, when it and those before it are settled. One that the service refuses is noted,
 * and the others go on; other errors end the run, and so does a caller who takes no more rows.
 */
export async function* sendRows(context: CommandContext, sending: Sending): AsyncGenerator<SentRow> {
  const { run, operation, rows, concurrency = DEFAULT_CONCURRENCY } = sending;
  const { io, settings } = context;
  const leave = new AbortController();
  const stop = AbortSignal.any([io.stop, leave.signal]);
  // A run outlasts a restart of the service, whoever watches.
  const connection = { ...(await context.connect()), maxUnreachableMs: undefined };
  const lane = openLane(concurrency, { ...io, stop });
  // Rows on the same terminal would be written over.
  const draws = settings.draws && (settings.output !== null || settings.fileFormat === 'table' || !io.stdout.isTTY);
  const bar = showBar({ word: operation.done, total: rows.length, settled: 0, failed: 0 }, { ...settings, draws }, io);
  const trace = traced(settings, io);
  /** Idempotency keys that an earlier command had used: the service has repeated its answer. */
  const replayed = new Set<string>();
  const onAttempt: typeof trace.onAttempt = (event) => {
    trace.onAttempt(event);
    const { status, willRetryInMs, idempotencyKey } = event;
    if (event.replayed && event.attempt === 1 && idempotencyKey !== null) replayed.add(idempotencyKey);
    if (willRetryInMs === null || (status !== 429 && status !== 503)) return;
    lane.slowDown(willRetryInMs);
    bar.waiting(willRetryInMs);
  };
  const limits = { ...settings, maxWaitMs: settings.maxWaitMs ?? MAX_WAIT_MS };
  const client = await openClient(connection, { ...trace, onAttempt }, limits, io);
  const settled = rows.map(() => Promise.withResolvers<SentRow>());
  let succeeded = 0;

  async function sendAll(): Promise<void> {
    const fill = await prepare(sending, client, lane, stop);
    await lane.each(rows.entries(), async ([at, row]) => {
      const body = operation.withReference?.(row.body, rowReference(run, row.row)) ?? row.body;
      const answer = await sendRow(sending, { ...row, body: fill(body) }, client, replayed, stop);
      if (answer.error === null) succeeded += 1;
      bar.add(answer.error === null);
      settled[at]?.resolve({ ...row, body, ...answer });
    });
  }

  const all = sendAll();
  all.catch((error: unknown) => {
    for (const { promise, reject } of settled) {
      promise.catch(() => {});
      reject(error);
    }
  });
  try {
    for (const { promise } of settled) yield await promise;
  } catch (error) {
    await bar.end();
    await context.say(stoppedNote(operation, succeeded, rows.length));
    throw error;
  } finally {
    leave.abort();
    await all.catch(() => {});
    await bar.end();
  }
}

export const stoppedNote = ({ done, noun }: BulkOperation, succeeded: number, total: number): Note => ({
  tone: 'warning',
  text: `stopped: ${done} ${succeeded} of ${count(total, noun)}\nthe same command goes on`,
});

/** The most keys that a row is sent under: a repeated command needs one more for each refusal of the day. */
const MAX_ATTEMPTS = 20;

/** Errors of an idempotency key that was used before: whether that request did something is not known. */
const unknownCodes = ['idempotency_key_reused', 'legacy_record', 'stored_response_missing'];

/** Sends one row. Throws errors that are not of this row alone. */
async function sendRow(
  { run, operation, mode }: Sending,
  { row, body }: Row,
  client: Client,
  replayed: Set<string>,
  signal: AbortSignal,
): Promise<Pick<SentRow, 'outcome' | 'error' | 'isUnknown'>> {
  for (let attempt = 1; ; attempt += 1) {
    const idempotencyKey = rowKey(run, row, body, attempt);
    try {
      const outcome = (await operation.send(client, body, { idempotencyKey, signal }, mode)) ?? {};
      return { outcome: { ...outcome, isOld: outcome.isOld || replayed.has(idempotencyKey) }, error: null };
    } catch (error) {
      if (!isOfThisRow(error)) throw error;
      const code = codeOfRefusal(error);
      const isUnknown = unknownCodes.includes(code);
      // The service repeats a refusal too: what was refused the last time may be possible now.
      const isWorthAnother = isUnknown ? operation.repeatsSafely : replayed.delete(idempotencyKey);
      if (isWorthAnother && attempt < MAX_ATTEMPTS) continue;
      const message = error.fields.length === 0 ? error.message : `${error.message}: ${error.fields.join(', ')}`;
      return { outcome: null, error: { code, status: error.status, message }, isUnknown };
    }
  }
}

/** Whether an error says nothing about the other rows. */
const isOfThisRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && isRefusal(error) && error.reason !== 'issueLimit';
