import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import type { CommandContext } from '../context.ts';
import { codeOfRefusal } from '../failure/report.ts';
import { showBar } from '../output/progress.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count, shortMoment } from '../output/words.ts';
import { isRefusal } from '../request/changes.ts';
import { openClient } from '../request/connection.ts';
import { traced } from '../request/observe.ts';
import type { Counts, RunRow, Settled } from '../state/open-run.ts';
import { type Lane, openLane } from './lane.ts';
import { prepare } from './preparation.ts';
import { refuseTakenOutput, resultOf } from './results.ts';
import { type BulkRun, rowKey } from './run.ts';

export interface Finishing {
  readonly concurrency: number | undefined;
  /** Whether the results go into the file of the first command, unless another is named. */
  readonly writesOwnFile?: boolean;
  notesOnSent?(rows: Iterable<RunRow>): readonly Note[];
  /** Sends failed rows anew, and those whose outcome is unknown. */
  readonly retry?: { readonly unknown: boolean };
}

const hint = (text: string): Note => ({ tone: 'hint', text });

export async function finishRun(context: CommandContext, run: BulkRun, how: Finishing): Promise<CommandResult> {
  const { io, flags } = context;
  const { name, createdAt, output } = run.run;
  const file = how.writesOwnFile && flags.output === undefined ? output : null;
  const settings = file === null ? context.settings : { ...context.settings, output: file.path };
  const { isBegun } = run.takeOver();
  if (how.retry !== undefined) run.reopen(how.retry);
  refuseTakenOutput(run.readOutputs, settings, io);
  const before = run.counts();
  const isOpen = before.open > 0;
  if (isOpen) await send(context, run, before, how);
  const when = shortMoment(createdAt, io.now());
  const earlier = isOpen
    ? [`went on with the run of ${when}`]
    : [
        `these are the results of the run of ${when}; nothing was sent now`,
        ...(name === null ? ['to do it all once more, give it a name: --run NAME'] : []),
      ];
  const result = resultOf(run);
  return {
    ...result,
    file,
    notes: [
      ...(isBegun ? earlier.map(hint) : []),
      ...result.notes,
      ...((isOpen && how.notesOnSent?.(run.read())) || []),
      ...(file === null ? [] : [hint(`the results are in ${file.path}`)]),
    ],
    // A run that is killed before the file is whole finds its own file.
    beforeFile: async (text) => {
      if (settings.output !== null) run.keepOutput(resolve(io.cwd, settings.output), hash('sha256', text));
    },
  };
}

const DEFAULT_CONCURRENCY = 96;
/** A run can wait longer than a person: for a rate limit that is counted in minutes. */
const MAX_WAIT_MS = 600_000;

/** Sends the rows that are open. One that the service refuses is noted, and the others go on; other errors end the run. */
async function send(
  context: CommandContext,
  run: BulkRun,
  before: Counts,
  { concurrency = DEFAULT_CONCURRENCY }: Finishing,
): Promise<void> {
  const { io, settings } = context;
  const { id, rows } = run.run;
  const { done, noun } = run.operation;
  // A run outlasts a restart of the service, whoever watches.
  const connection = { ...(await context.connect()), maxUnreachableMs: undefined };
  const lane = openLane(concurrency, io);
  const failed = before.failed + before.unknown;
  const bar = showBar({ word: done, total: rows, settled: rows - before.open, failed }, settings, io);
  const trace = traced(settings, io);
  const onAttempt: typeof trace.onAttempt = (event) => {
    trace.onAttempt(event);
    const { status, willRetryInMs } = event;
    if (willRetryInMs === null || (status !== 429 && status !== 503)) return;
    lane.slowDown(willRetryInMs);
    bar.waiting(willRetryInMs);
  };
  const limits = { ...settings, maxWaitMs: settings.maxWaitMs ?? MAX_WAIT_MS };
  const client = await openClient(connection, { ...trace, onAttempt }, limits, io);
  try {
    const fill = await prepare(run, client, lane, io.stop);
    const sendRow = async (row: RunRow): Promise<Settled> => {
      const answer = await answerOf(run, { ...row, body: fill(row.body) }, client, io.stop);
      bar.add(answer.kind === 'done');
      return answer;
    };
    await sendRows(run, lane, sendRow);
  } catch (error) {
    await bar.end();
    const text = `stopped: ${done} ${run.counts().done} of ${count(rows, noun)}`;
    await context.say({ tone: 'warning', text: `${text}\nthe same command goes on, or: lkm jobs resume ${id}` });
    throw error;
  }
  await bar.end();
}

/** How long an answer is in memory alone at most: a row whose answer is lost is sent again, under its key. */
const KEPT_MS = 250;

async function sendRows(run: BulkRun, lane: Lane, sendRow: (row: RunRow) => Promise<Settled>): Promise<void> {
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

  const timer = setInterval(() => {
    try {
      if (answers.length > 0) run.keepAnswers(answers.splice(0));
    } catch (error) {
      failure = error;
    }
  }, KEPT_MS);
  try {
    await lane.each(openRows(), async (row) => {
      const answer = await sendRow(row);
      if (failure !== null) throw failure;
      answers.push(answer);
    });
  } finally {
    clearInterval(timer);
    if (failure === null && answers.length > 0) run.keepAnswers(answers);
  }
}

/** Sends one row. Throws errors that are not of this row alone. */
async function answerOf(
  { run: { id, mode }, operation }: BulkRun,
  { row, body, attempt }: RunRow,
  client: Client,
  signal: AbortSignal,
): Promise<Settled> {
  try {
    const outcome = await operation.send(client, body, { idempotencyKey: rowKey(id, row, attempt), signal }, mode);
    const { status = operation.done, ...result } = outcome ?? {};
    return { row, kind: 'done', status, result, error: null };
  } catch (error) {
    if (!isOfThisRow(error)) throw error;
    const code = codeOfRefusal(error);
    const message = error.fields.length === 0 ? error.message : `${error.message}: ${error.fields.join(', ')}`;
    const kind = unknownCodes.includes(code) ? 'unknown' : 'failed';
    return { row, kind, status: kind, result: {}, error: { code, status: error.status, message } };
  }
}

/** Errors that tell only that an earlier request had this key: whether it made something, the row does not know. */
const unknownCodes = ['idempotency_key_reused', 'legacy_record', 'stored_response_missing'];

/** Whether an error says nothing about the other rows. */
const isOfThisRow = (error: unknown): error is ApiError =>
  error instanceof ApiError && isRefusal(error) && error.reason !== 'issueLimit';
