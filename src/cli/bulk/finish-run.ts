import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { describeNotice } from '../output/attempts.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count as counted, shortMoment } from '../output/words.ts';
import { openClient } from '../request/connection.ts';
import { traced } from '../request/observe.ts';
import { type Counts, type RunRows, rowsOf } from '../state/rows.ts';
import { keepOutput, readOutputs, type StoredRun, takeOver } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import { openLane } from './lane.ts';
import type { BulkOperation } from './operation.ts';
import { collectNeeds, openPreparation } from './preparation.ts';
import { showBulkProgress } from './progress.ts';
import { refuseTaken, resultOf } from './results.ts';
import type { Run } from './run.ts';
import { sendRows } from './send-rows.ts';

/** How a run is to be done. */
export interface Finishing {
  readonly concurrency: number | undefined;
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
  const { run } = stored;
  const file = how.writesOwnFile && flags.output === undefined ? run.output : null;
  const settings = file === null ? context.settings : { ...context.settings, output: file.path };
  const state = await context.state();
  const rows = rowsOf(state, stored, operation, io);
  const { isBegun } = takeOver(state, stored);
  if (how.retry !== undefined) rows.reopen(how.retry);
  refuseTaken((path) => readOutputs(state, stored, path), settings, io);
  const before = rows.counts();
  const isOpen = before.open > 0;
  const notes = isBegun ? notesOnEarlier(run, isOpen, io.now()) : [];
  if (isOpen) await send(context, operation, { state, stored, rows, before }, how);
  const result = resultOf(run, operation, rows);
  const said = isOpen ? (how.notesOnSent?.() ?? []) : [];
  const where: Note[] = file === null ? [] : [{ tone: 'hint', text: `the results are in ${file.path}` }];
  return {
    ...result,
    file,
    notes: [...notes, ...result.notes, ...said, ...where],
    // A run that is killed before the file is whole finds its own file.
    beforeFile: async (text) => {
      if (settings.output !== null) keepOutput(state, stored, resolve(io.cwd, settings.output), hash('sha256', text));
    },
  };
}

function notesOnEarlier({ name, createdAt }: Run, isOpen: boolean, now: number): Note[] {
  const when = shortMoment(createdAt, now);
  if (isOpen) return [{ tone: 'hint', text: `went on with the run of ${when}` }];
  const again: Note = { tone: 'hint', text: 'to do it all once more, give it a name: --run NAME' };
  return [
    { tone: 'hint', text: `these are the results of the run of ${when}; nothing was sent now` },
    ...(name === null ? [again] : []),
  ];
}

const DEFAULT_CONCURRENCY = 32;
/** A run can wait longer than a person: for a rate limit that is counted in minutes. */
const MAX_WAIT_MS = 600_000;

interface Opened {
  readonly state: State;
  readonly stored: StoredRun;
  readonly rows: RunRows;
  readonly before: Counts;
}

async function send(
  context: CommandContext,
  operation: BulkOperation,
  { state, stored, rows, before }: Opened,
  { concurrency = DEFAULT_CONCURRENCY }: Finishing,
): Promise<void> {
  const { io, settings } = context;
  const { run } = stored;
  const { stop } = io;
  const needs = collectNeeds(operation, run.mode);
  if (operation.preparation !== undefined) for (const row of rows.read()) needs.add(row);
  // A run outlasts a restart of the service, whoever watches.
  const connection = { ...(await context.connect()), maxUnreachableMs: undefined };
  const lane = openLane(concurrency, io);
  const progress = showBulkProgress(operation.done, run.rows, before, settings, io);
  const { onAttempt, onExchange } = traced(settings, io);
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
    { ...settings, maxWaitMs: settings.maxWaitMs ?? MAX_WAIT_MS },
    io,
  );
  try {
    const fill = openPreparation(state, stored, { operation, client, stop, needs: needs.needs });
    await sendRows({ state, run, rows, operation, client, lane, stop, fill, onAnswer: progress.answered });
  } catch (error) {
    await progress.end();
    await context.say(stopped(run, operation, rows.counts()));
    throw error;
  }
  await progress.end();
}

function stopped({ id, rows }: Run, { done, noun }: BulkOperation, counts: Counts): Note {
  const text = `stopped: ${done} ${counts.done} of ${counted(rows, noun)}\nthe same command goes on, or: lkm jobs resume ${id}`;
  return { tone: 'warning', text };
}
