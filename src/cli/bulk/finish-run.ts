import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import type { CommandContext } from '../context.ts';
import { showBar } from '../output/progress.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count, shortMoment } from '../output/words.ts';
import { openClient } from '../request/connection.ts';
import { traced } from '../request/observe.ts';
import type { Counts, RunRow } from '../state/open-run.ts';
import { openLane } from './lane.ts';
import { prepare } from './preparation.ts';
import { refuseTaken, resultOf } from './results.ts';
import type { BulkRun } from './run.ts';
import { sendRows } from './send-rows.ts';

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
  refuseTaken(run.readOutputs, settings, io);
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

const DEFAULT_CONCURRENCY = 32;
/** A run can wait longer than a person: for a rate limit that is counted in minutes. */
const MAX_WAIT_MS = 600_000;

async function send(
  context: CommandContext,
  opened: BulkRun,
  before: Counts,
  { concurrency = DEFAULT_CONCURRENCY }: Finishing,
): Promise<void> {
  const { io, settings } = context;
  const { run, operation } = opened;
  // A run outlasts a restart of the service, whoever watches.
  const connection = { ...(await context.connect()), maxUnreachableMs: undefined };
  const lane = openLane(concurrency, io);
  const settled = run.rows - before.open;
  const failed = before.failed + before.unknown;
  const bar = showBar({ word: operation.done, total: run.rows, settled, failed }, settings, io);
  const trace = traced(settings, io);
  const client = await openClient(
    connection,
    {
      ...trace,
      onAttempt: (event) => {
        trace.onAttempt(event);
        const { status, willRetryInMs } = event;
        if (willRetryInMs === null || (status !== 429 && status !== 503)) return;
        lane.slowDown(willRetryInMs);
        bar.waiting(willRetryInMs);
      },
    },
    { ...settings, maxWaitMs: settings.maxWaitMs ?? MAX_WAIT_MS },
    io,
  );
  try {
    const fill = await prepare(opened, client, lane, io.stop);
    await sendRows(opened, { client, lane, stop: io.stop, fill, onAnswer: ({ kind }) => bar.add(kind === 'done') });
  } catch (error) {
    await bar.end();
    const done = `${operation.done} ${opened.counts().done} of ${count(run.rows, operation.noun)}`;
    const text = `stopped: ${done}\nthe same command goes on, or: lkm jobs resume ${run.id}`;
    await context.say({ tone: 'warning', text });
    throw error;
  }
  await bar.end();
}
