import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import type { CommandContext } from '../context.ts';
import { codeOfRefusal } from '../failure/report.ts';
import { type Bar, showBar } from '../output/progress.ts';
import type { Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import { isRefusal } from '../request/changes.ts';
import { type Connection, openClient } from '../request/connection.ts';
import { traced } from '../request/observe.ts';
import { type ConcurrencyLimiter, openLimiter } from './concurrency-limiter.ts';
import type { BulkOperation, Outcome } from './operation.ts';
import type { ReadRows, Row } from './reading/read-rows.ts';
import type { BulkRequest } from './request.ts';
import { type RunMarker, rowKey, rowReference } from './run.ts';

/** A checked request, whose rows may be sent. */
export interface BulkRun {
  readonly operation: BulkOperation;
  readonly request: BulkRequest;
  readonly read: ReadRows;
  readonly marker: RunMarker;
}

/** The final result of a row. */
export interface SentRow extends Row {
  readonly outcome: Outcome | null;
  /** Whether the row may have been done although the response is an error. */
  readonly isUnknown?: boolean;
  readonly error: { readonly code: string; readonly status: number; readonly message: string } | null;
}

const DEFAULT_CONCURRENCY = 96;
/** Longer than a person would wait: rate limits are counted in minutes. */
const MAX_WAIT_MS = 600_000;

/**
 * Sends all rows and yields them in order. A refused row is reported, and the others go on; other errors end the run, as
 * does a reader who leaves.
 */
export async function* sendRows(context: CommandContext, run: BulkRun): AsyncGenerator<SentRow> {
  const { operation, request, read, marker } = run;
  const { rows, dependencies } = read;
  const { io, settings } = context;
  const leave = new AbortController();
  const stop = AbortSignal.any([io.stop, leave.signal]);
  // Also with a person watching, a run survives a restart of the service.
  const connection = { ...(await context.connect()), maxUnreachableMs: undefined };
  const limiter = openLimiter(request.concurrency ?? DEFAULT_CONCURRENCY, { ...io, stop });
  // The bar would overwrite rows on the same terminal.
  const draws = settings.draws && (settings.output !== null || settings.fileFormat === 'table' || !io.stdout.isTTY);
  const bar = showBar(operation.done, rows.length, { ...settings, draws }, io);
  const { client, replayed } = await openClientOfRun(connection, context, limiter, bar);
  const settled = rows.map(() => Promise.withResolvers<SentRow>());
  let succeeded = 0;

  async function sendAll(): Promise<void> {
    await dependencies.create(client, limiter, marker.run, stop);
    await limiter.each(rows.entries(), async ([at, row]) => {
      const body = operation.withReference?.(row.body, rowReference(marker.run, row.row)) ?? row.body;
      const answer = await sendRow(run, { ...row, body: dependencies.fill(body) }, client, replayed, stop);
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
  let taken = 0;
  try {
    for (const { promise } of settled) {
      yield await promise;
      taken += 1;
    }
  } finally {
    leave.abort();
    await all.catch(() => {});
    await bar.end();
    // A request has failed, the reader has left, or the results cannot be written.
    if (taken < rows.length) await context.say(stoppedNote(operation, succeeded, rows.length));
  }
}

export const stoppedNote = ({ done, noun }: BulkOperation, succeeded: number, total: number): Note => ({
  tone: 'warning',
  text: `stopped: ${done} ${succeeded} of ${count(total, noun)}\nthe same command goes on`,
});

/** Opens a client whose waits slow down all rows. `replayed` collects the idempotency keys with a replayed response. */
async function openClientOfRun(
  connection: Connection,
  { io, settings }: CommandContext,
  limiter: ConcurrencyLimiter,
  bar: Bar,
) {
  const trace = traced(settings, io);
  const replayed = new Set<string>();
  const onAttempt: typeof trace.onAttempt = (event) => {
    trace.onAttempt(event);
    const { status, willRetryInMs, idempotencyKey } = event;
    if (event.replayed && event.attempt === 1 && idempotencyKey !== null) replayed.add(idempotencyKey);
    if (willRetryInMs === null || (status !== 429 && status !== 503)) return;
    limiter.slowDown(willRetryInMs);
    bar.waiting(willRetryInMs);
  };
  const limits = { ...settings, maxWaitMs: settings.maxWaitMs ?? MAX_WAIT_MS };
  return { client: await openClient(connection, { ...trace, onAttempt }, limits, io), replayed };
}

/** Idempotency keys per row: a repetition needs one more for each refusal of the day. */
const MAX_ATTEMPTS = 20;

/** Errors of a used idempotency key: the effect of its request is unknown. */
const unknownCodes = ['idempotency_key_reused', 'legacy_record', 'stored_response_missing'];

/** Throws errors that concern other rows too. */
async function sendRow(
  { operation, request: { mode = {} }, marker }: BulkRun,
  { row, body }: Row,
  client: Client,
  replayed: Set<string>,
  signal: AbortSignal,
): Promise<Pick<SentRow, 'outcome' | 'error' | 'isUnknown'>> {
  for (let attempt = 1; ; attempt += 1) {
    const idempotencyKey = rowKey(marker.run, row, body, attempt);
    try {
      const outcome = await operation.send(client, body, { idempotencyKey, signal }, mode);
      return { outcome: { ...outcome, isOld: outcome.isOld || replayed.has(idempotencyKey) }, error: null };
    } catch (error) {
      if (!isOfThisRow(error)) throw error;
      const code = codeOfRefusal(error);
      const isUnknown = unknownCodes.includes(code);
      // The service replays refusals too, although the row may be possible now.
      const isWorthAnother = isUnknown ? operation.repeatsSafely : replayed.delete(idempotencyKey);
      if (isWorthAnother && attempt < MAX_ATTEMPTS) continue;
      return { outcome: null, error: { code, status: error.status, message: messageOf(error) }, isUnknown };
    }
  }
}

/** Most endpoints name the fields in their message. */
function messageOf({ fields, message }: ApiError): string {
  const unnamed = fields.filter((field) => !message.includes(field));
  return unnamed.length === 0 ? message : `${message}: ${unnamed.join(', ')}`;
}

const isOfThisRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && isRefusal(error) && error.reason !== 'issueLimit';
