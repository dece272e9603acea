import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { describeNotice } from '../output/attempts.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count as counted, shortMoment } from '../output/words.ts';
import { openClient } from '../request/connection.ts';
import { traced } from '../request/observe.ts';
import type { Counts } from '../state/rows.ts';
import { keepOutput, readOutputs, takeOver } from '../state/runs.ts';
import { openLane } from './lane.ts';
import type { BulkOperation } from './operation.ts';
import { openPreparation } from './preparation.ts';
import { showBulkProgress } from './progress.ts';
import { refuseTaken, resultOf } from './results.ts';
import type { OpenedRun, Run } from './run.ts';
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
export async function finishRun(context: CommandContext, opened: OpenedRun, how: Finishing): Promise<CommandResult> {
  const { io, flags } = context;
  const { state, run, rows } = opened;
  const file = how.writesOwnFile && flags.output === undefined ? run.output : null;
  const settings = file === null ? context.settings : { ...context.settings, output: file.path };
  const { isBegun } = takeOver(state, opened);
  if (how.retry !== undefined) rows.reopen(how.retry);
  refuseTaken((path) => readOutputs(state, opened, path), settings, io);
  const before = rows.counts();
  const isOpen = before.open > 0;
  const notes = isBegun ? notesOnEarlier(run, isOpen, io.now()) : [];
  if (isOpen) await send(context, opened, before, how);
  const result = resultOf(opened);
  const said = isOpen ? (how.notesOnSent?.() ?? []) : [];
  const where: Note[] = file === null ? [] : [{ tone: 'hint', text: `the results are in ${file.path}` }];
  return {
    ...result,
    file,
    notes: [...notes, ...result.notes, ...said, ...where],
    // A run that is killed before the file is whole finds its own file.
    beforeFile: async (text) => {
      if (settings.output !== null) keepOutput(state, opened, resolve(io.cwd, settings.output), hash('sha256', text));
    },
  };
}

function notesOnEarlier({ name, createdAt }: Run, isOpen: boolean, now: number): Note[] {
  const when = shortMoment(createdAt, now);
  const texts = isOpen
    ? [`went on with the run of ${when}`]
    : [`these are the results of the run of ${when}; nothing was sent now`];
  if (!isOpen && name === null) texts.push('to do it all once more, give it a name: --run NAME');
  return texts.map((text) => ({ tone: 'hint', text }));
}

const DEFAULT_CONCURRENCY = 32;
/** A run can wait longer than a person: for a rate limit that is counted in minutes. */
const MAX_WAIT_MS = 600_000;

async function send(
  context: CommandContext,
  opened: OpenedRun,
  before: Counts,
  { concurrency = DEFAULT_CONCURRENCY }: Finishing,
): Promise<void> {
  const { io, settings } = context;
  const { run, operation, rows } = opened;
  const { stop } = io;
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
    const fill = openPreparation(opened, client, stop);
    await sendRows({ ...opened, client, lane, stop, fill, onAnswer: progress.answered });
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
