import type { CommandContext } from '../context.ts';
import { describeNotice } from '../output/attempts.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count as counted, shortMoment } from '../output/words.ts';
import { openClient } from '../request/connection.ts';
import { traced } from '../request/observe.ts';
import { type Counts, countRows, readOutputs, reopenRows, type StoredRun, takeOver } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import { openLane } from './lane.ts';
import type { BulkOperation } from './operation.ts';
import { type FoundNeeds, prepareRows } from './preparation.ts';
import { showBulkProgress } from './progress.ts';
import { noteOutput, refuseTaken } from './result-file.ts';
import { resultOf } from './results.ts';
import type { Run } from './run.ts';
import { sendRows } from './send-rows.ts';

/** How a run is to be done. */
export interface Finishing {
  readonly concurrency: number | undefined;
  /** What was asked of the service about the needs of a run that is new. */
  readonly found?: FoundNeeds;
  /** Whether the results go into the file of the first command, unless another is named. */
  readonly writesOwnFile?: boolean;
  /** What is said when rows were sent now. */
  notesOnSent?(): readonly Note[];
  /** Sends failed rows anew, and those whose outcome is unknown. */
  readonly retry?: { readonly unknown: boolean };
}

/** Sends what is open of a run, and gives the results of all of it. */
export async function finishRun(
  context: CommandContext,
  operation: BulkOperation,
  stored: StoredRun,
  how: Finishing,
): Promise<CommandResult> {
  const { io, flags } = context;
  const file = how.writesOwnFile && flags.output === undefined ? stored.run.output : null;
  const settings = file === null ? context.settings : { ...context.settings, output: file.path };
  const state = await context.state();
  const look = { now: io.now(), repeatsSafely: operation.repeatsSafely };
  const { isBegun } = takeOver(state, stored);
  if (how.retry !== undefined) reopenRows(state, stored, look, how.retry.unknown ? 'unknown' : null);
  refuseTaken((path) => readOutputs(state, stored, path), settings, io);
  const before = countRows(state, stored, look);
  const notes = isBegun ? notesOnEarlier(stored.run, before.open, io.now()) : [];
  if (before.open > 0) await send(context, operation, state, stored, before, how);
  const result = resultOf(state, stored, operation, look);
  const said = before.open > 0 ? (how.notesOnSent?.() ?? []) : [];
  const where: Note[] = file === null ? [] : [{ tone: 'hint', text: `the results are in ${file.path}` }];
  return {
    ...result,
    file,
    notes: [...notes, ...result.notes, ...said, ...where],
    beforeFile: (text) => noteOutput(state, stored, text, settings, io),
  };
}

function notesOnEarlier({ name, createdAt }: Run, open: number, now: number): Note[] {
  const when = shortMoment(createdAt, now);
  if (open > 0) return [{ tone: 'hint', text: `went on with the run of ${when}` }];
  const again: Note = { tone: 'hint', text: 'to do it all once more, give it a name: --run NAME' };
  return [
    { tone: 'hint', text: `these are the results of the run of ${when}; nothing was sent now` },
    ...(name === null ? [again] : []),
  ];
}

const DEFAULT_CONCURRENCY = 32;
/** A run can wait longer than a person: for a rate limit that is counted in minutes. */
const MAX_WAIT_MS = 600_000;

async function send(
  context: CommandContext,
  operation: BulkOperation,
  state: State,
  stored: StoredRun,
  before: Counts,
  { concurrency = DEFAULT_CONCURRENCY, found = new Map() }: Finishing,
): Promise<void> {
  const { io, settings } = context;
  // A run outlasts a restart of the service, whoever watches.
  const connection = { ...(await context.connect()), maxUnreachableMs: undefined };
  const lane = openLane(concurrency, io);
  const { rows } = stored.run;
  const failedBefore = before.failed + before.unknown;
  const progress = showBulkProgress(
    { done: operation.done, total: rows, before: rows - before.open, failedBefore },
    settings,
    io,
  );
  const { onAttempt, onExchange } = traced(settings, io);
  const waits = { ...settings, maxWaitMs: settings.maxWaitMs ?? MAX_WAIT_MS };
  const client = await openClient(
    connection,
    {
      onAttempt: (event) => {
        onAttempt(event);
        const { status, willRetryInMs } = event;
        if (willRetryInMs === null || (status !== 429 && status !== 503)) return;
        lane.slowDown(willRetryInMs);
        progress.waiting(willRetryInMs);
      },
      onExchange,
      onNotice: (notice) => void context.say({ tone: 'warning', text: describeNotice(notice) }),
    },
    waits,
    io,
  );
  try {
    const fill = await prepareRows(state, stored, { operation, client, lane, stop: io.stop, found });
    await sendRows({ state, stored, operation, client, lane, fill, io, onAnswer: progress.answered });
  } catch (error) {
    await progress.end();
    const look = { now: io.now(), repeatsSafely: operation.repeatsSafely };
    await context.say(stopped(stored.run, operation, countRows(state, stored, look)));
    throw error;
  }
  await progress.end();
}

function stopped({ id, rows }: Run, { done, noun }: BulkOperation, counts: Counts): Note {
  const text = `stopped: ${done} ${counts.done} of ${counted(rows, noun)}\nthe same command goes on, or: lkm jobs resume ${id}`;
  return { tone: 'warning', text };
}
