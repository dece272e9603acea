import type { Client } from '../../client/client.ts';
import { systemTiming } from '../../client/timing.ts';
import { toInstant } from '../../domain/time.ts';
import type { CommandContext } from '../context.ts';
import { describeNotice } from '../output/attempts.ts';
import type { CommandResult } from '../output/result.ts';
import type { Note } from '../output/terminal.ts';
import { count as counted, moment } from '../output/words.ts';
import { openClient } from '../request/connection.ts';
import type { BulkOperation } from './operation.ts';
import { createPace, type Lane } from './pace.ts';
import { collectNeeds, type FoundNeeds, makeNeeds, type Need, needKey } from './preparation.ts';
import { showBulkProgress } from './progress.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { noteOutput, refuseTaken } from './result-file.ts';
import { resultOf } from './results.ts';
import { countStates, openRow, type RowState, readStates } from './row-states.ts';
import type { BulkRun } from './run.ts';
import { type OpenRun, readLinesOf, takeOverRun } from './run-store.ts';
import { sendRows } from './send-rows.ts';

/** How a run is to be done. */
export interface Finishing {
  readonly concurrency: number | undefined;
  /** What was asked of the service about the needs of a run that is new. */
  readonly found?: FoundNeeds;
  /** What is said when rows were sent now. */
  notesOnSent?(): readonly Note[];
  /** Sends failed rows anew, and those whose outcome is unknown. */
  readonly retry?: { readonly unknown: boolean };
}

/** Sends what is open of a run, and gives the results of all of it. */
export async function finishRun(
  context: CommandContext,
  operation: BulkOperation,
  run: BulkRun,
  how: Finishing,
): Promise<CommandResult> {
  const { io, flags } = context;
  const file = flags.output === undefined ? run.output : null;
  const settings = file === null ? context.settings : { ...context.settings, output: file.path };
  const open = takeOverRun(run, io);
  try {
    const states = readStates(run, readLinesOf(run.id, io), io.now(), operation.repeatsSafely);
    if (how.retry !== undefined) await sendAnew(open, states, how.retry, io.now());
    refuseTaken(open.lines, settings, io);
    const before = countStates(states);
    const notes = notesOnEarlier(open, before.open, io.now());
    if (before.open > 0) await send(context, operation, open, states, how);
    const result = resultOf({ run, operation, rows: open.rows, states, notes });
    const said = before.open > 0 ? (how.notesOnSent?.() ?? []) : [];
    const beforeFile = (text: string) => noteOutput(run.id, text, settings, io);
    const where: Note[] = file === null ? [] : [{ tone: 'hint', text: `the results are in ${file.path}` }];
    return { ...result, file, notes: [...(result.notes ?? []), ...said, ...where], beforeFile };
  } finally {
    await open.journal.close();
  }
}

/** Opens failed rows again, each for a request of its own. */
async function sendAnew(
  { journal }: OpenRun,
  states: RowState[],
  retry: { readonly unknown: boolean },
  now: number,
): Promise<void> {
  for (const [row, { kind, attempt }] of states.entries()) {
    if (kind !== 'failed' && !(kind === 'unknown' && retry.unknown)) continue;
    journal.add({ type: 'again', row, attempt: attempt + 1, at: toInstant(now) });
    states[row] = openRow(attempt + 1);
  }
  // Before they are sent: after a power failure they would be taken for rows that have failed.
  await journal.sync();
}

function notesOnEarlier({ run, lines }: OpenRun, open: number, now: number): Note[] {
  const begun = lines.find((line) => line.type === 'begin');
  if (begun === undefined) return [];
  const when = begun.at.slice(0, 10) === toInstant(now).slice(0, 10) ? moment(begun.at).slice(11) : moment(begun.at);
  if (open > 0) return [{ tone: 'hint', text: `went on with the run of ${when}` }];
  const again: Note = { tone: 'hint', text: 'to do it all once more, give it a name: --run NAME' };
  return [
    { tone: 'hint', text: `these are the results of the run of ${when}; nothing was sent now` },
    ...(run.name === null ? [again] : []),
  ];
}

const DEFAULT_CONCURRENCY = 32;
/** A run can wait longer than a person: for a rate limit that is counted in minutes. */
const MAX_WAIT_MS = 600_000;

async function send(
  context: CommandContext,
  operation: BulkOperation,
  open: OpenRun,
  states: RowState[],
  { concurrency = DEFAULT_CONCURRENCY, found = new Map() }: Finishing,
): Promise<void> {
  const { io, settings } = context;
  const { sleep } = io.timing ?? systemTiming;
  const connection = await context.connect();
  const pace = createPace(concurrency, (ms) => sleep(ms, io.stop).catch(() => {}));
  const before = countStates(states);
  const shown = { done: operation.done, total: open.run.rows, before: open.run.rows - before.open };
  const progress = showBulkProgress({ ...shown, failedBefore: before.failed + before.unknown }, settings, io);
  const waits = { ...settings, maxWaitMs: settings.maxWaitMs ?? MAX_WAIT_MS };
  const client = await openClient(
    connection,
    {
      onAttempt: ({ status, willRetryInMs }) => {
        if (willRetryInMs === null || (status !== 429 && status !== 503)) return;
        pace.slowDown(willRetryInMs);
        progress.waiting(willRetryInMs);
      },
      onNotice: (notice) => void context.say({ tone: 'warning', text: describeNotice(notice) }),
    },
    waits,
    io,
  );
  try {
    const lane = { pace, concurrency, stop: io.stop };
    const fill = await prepare(open, operation, client, lane, found);
    await sendRows({ open, operation, client, lane, states, fill, io, onAnswer: progress.answered });
  } catch (error) {
    await progress.end();
    await context.say(stopped(open.run, operation, states));
    throw error;
  }
  await progress.end();
}

/** Finds and makes what the rows need; returns what puts its ids into a body. */
async function prepare(
  { run, rows, lines, journal }: OpenRun,
  operation: BulkOperation,
  client: Client,
  lane: Lane,
  found: FoundNeeds,
): Promise<(body: RowBody['body']) => RowBody['body']> {
  const { preparation } = operation;
  if (preparation === undefined) return (body) => body;
  const ids = new Map(lines.flatMap((line) => (line.type === 'prepared' ? [[line.need, line.id] as const] : [])));
  const keep = (key: string, id: string): void => {
    ids.set(key, id);
    journal.add({ type: 'prepared', need: key, id });
  };
  for (const [key, id] of found) if (id !== null) keep(key, id);
  const { needs, add } = collectNeeds(operation, run.mode);
  for (const row of rows) add(row);
  const open = [...needs.values()].filter((need) => !ids.has(needKey(need)));
  await makeNeeds(open, { run, preparation, client, lane, found, keep: (need, id) => keep(needKey(need), id) });
  // Rows are sent with these ids: a later process has to send the same bytes.
  await journal.sync();
  const idOf = (need: Need): string => ids.get(needKey(need)) ?? '';
  return (body) => preparation.fill?.(body, idOf) ?? body;
}

function stopped({ id, rows }: BulkRun, { done, noun }: BulkOperation, states: readonly RowState[]): Note {
  const { done: finished } = countStates(states);
  const text = `stopped: ${done} ${finished} of ${counted(rows, noun)}\nthe same command goes on, or: lkm jobs resume ${id}`;
  return { tone: 'warning', text };
}
