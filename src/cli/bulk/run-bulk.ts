import { resolve } from 'node:path';
import { toInstant } from '../../domain/time.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes, type Hint, UsageError } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { count, moment } from '../output/words.ts';
import { originOf } from '../request/changes.ts';
import { openRun } from '../state/open-run.ts';
import { createRun, type Run, readRun } from '../state/runs.ts';
import type { DateFormat } from '../values/date-format.ts';
import { type Finishing, finishRun } from './finish-run.ts';
import { openLane } from './lane.ts';
import type { Body, BulkOperation, Mode } from './operation.ts';
import type { Writing } from './read-file.ts';
import { type ReadRows, readRows } from './read-rows.ts';
import { refuseTakenOutput } from './results.ts';
import { type BulkRun, runId } from './run.ts';

export interface BulkRequest extends Pick<Finishing, 'concurrency' | 'notesOnSent'>, Writing {
  readonly file: string | undefined;
  readonly count?: number | undefined;
  readonly map: readonly (readonly [column: string, field: string])[] | undefined;
  readonly dateFormat: DateFormat | undefined;
  /** What stands for no date. */
  readonly noDate: readonly string[] | undefined;
  /** Whether rows that cannot be sent are left out; else one of them stops the file. */
  readonly skipInvalid: boolean;
  readonly run: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly defaults: Body;
  readonly mode?: Mode;
  /** Asks whether a run that is new may begin; nothing is written down or sent unless it resolves. */
  confirm?(rows: number): Promise<void>;
}

const MAX_LOOKUPS_AT_ONCE = 16;

/** Sends one request for each row of a file, or `count` requests; the same command run again continues the run. */
export async function runBulk(
  context: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
): Promise<CommandResult> {
  const { io, dryRun, settings } = context;
  if (request.idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: a run makes one for each row');
  }
  if (request.file === undefined && request.count === undefined) {
    throw new UsageError('-f is required', [['Give it:', '-f FILE, or - for stdin']]);
  }
  const state = await (dryRun ? context.knownState() : context.state());
  const { command } = operation;
  const origin = originOf(await context.target());
  const name = request.run ?? null;
  const { first, needs, problems, repeated, warnings, ...read } = await readRows(
    context,
    operation,
    request,
    origin,
    state,
  );
  const { digest, rows, file } = read;
  const id = runId({ command, origin, name, digest });
  const known = state === null ? null : readRun(state, id);
  if (known !== null && known.run.digest !== digest) throw otherRun(known.run);
  if (known === null && state !== null && file !== null && name === null) {
    for (const stored of repeated.toReversed()) refuseRepeated(openRun(state, stored, operation, io), { file, rows });
  }
  const isPlanned = needs.all.size > 0 && (known === null || dryRun);
  const ids = isPlanned
    ? await needs.find(await context.client(), openLane(MAX_LOOKUPS_AT_ONCE, io), problems)
    : new Map<string, string>();
  if (problems.count > 0) throw problems.error(file ?? 'the command line', operation.columns, dryRun);
  if (dryRun || state === null) return previewRun(operation, { rows, first, needs, warnings, problems }, ids);
  for (const text of warnings) await context.say({ tone: 'warning', text });
  const finish = async (run: BulkRun): Promise<CommandResult> => {
    const result = await finishRun(context, run, request);
    return problems.skipped.size > 0 && !result.exitCode ? { ...result, exitCode: exitCodes.partial } : result;
  };
  if (known !== null) return finish(openRun(state, known, operation, io));
  refuseTakenOutput(() => [], settings, io);
  await request.confirm?.(rows);
  const stored = createRun(state, {
    id,
    name,
    command,
    origin,
    ...read,
    mode: request.mode ?? {},
    output: settings.output === null ? null : { path: resolve(io.cwd, settings.output), format: settings.fileFormat },
    createdAt: toInstant(io.now()),
    body: file === null ? first : null,
  });
  const run = openRun(state, stored, operation, io);
  run.keepPrepared(ids);
  return finish(run);
}

const otherRun = ({ name, file, rows, createdAt }: Run): UsageError =>
  new UsageError(
    `the run ${name} of ${moment(createdAt)} was another one: ${count(rows, 'row')} of ${file ?? '--count'}`,
    ['Nothing was sent. A run has the same options and the same rows each time; give this one another name.'],
  );

/** Throws `UsageError` for a file that begins with the rows of an earlier run, unless that run has done nothing. */
function refuseRepeated({ run, operation, counts, hasBegun }: BulkRun, given: { file: string; rows: number }): void {
  if (!hasBegun()) return;
  const { id, rows, createdAt } = run;
  const { done, open } = counts();
  const fresh = given.rows - rows;
  const begins = fresh === 0 ? `has the same ${count(rows, 'row')} as` : `begins with the ${count(rows, 'row')} of`;
  const rest: Hint[] =
    fresh === 0 ? [] : [['Do the rest alone:', `put the ${count(fresh, 'new row')} into a file of their own`]];
  const did = `${operation.done} ${count(done, operation.noun)}`;
  throw new UsageError(`${given.file} ${begins} run ${id} of ${moment(createdAt)}, which has ${did}`, [
    'Nothing was sent. As a run of its own, it would do these rows a second time.',
    open > 0 ? ['Finish that run:', `lkm jobs resume ${id}`] : ['See what that run did:', `lkm jobs show ${id}`],
    ...rest,
    ['Do all of it, once more:', 'add --run NAME'],
  ]);
}

function previewRun(
  { noun, done }: BulkOperation,
  { rows, first, needs, warnings, problems }: Pick<ReadRows, 'rows' | 'first' | 'needs' | 'warnings' | 'problems'>,
  ids: ReadonlyMap<string, string>,
): CommandResult {
  const needed = [...needs.all].map(([key, { kind, name }]) => {
    const id = ids.get(key);
    return { kind, name, ...(id === undefined ? { status: 'new' } : { status: 'exists', id }) };
  });
  const counted = [...Map.groupBy(needed, ({ kind }) => kind)].map(([kind, all]) => {
    const found = all.filter(({ status }) => status === 'exists').length;
    return `\n${kind}s: ${all.length - found} would be made, ${found} are there\n`;
  });
  const skipped = problems.skipped.size;
  const state = skipped === 0 ? 'no problems' : `${skipped} more left out`;
  const text = `${count(rows, 'row')}, ${state}: each would be ${done} as a ${noun}. The first:`;
  return {
    kind: 'text',
    draw: () => `${text}\n\n${JSON.stringify(first, null, 2)}\n${counted.join('')}`,
    data: { dryRun: true, rows, first, ...(needed.length > 0 && { needed }) },
    quiet: [],
    ...(skipped > 0 && { exitCode: exitCodes.partial }),
    notes: [
      ...warnings.map((text) => ({ tone: 'warning', text }) as const),
      { tone: 'hint', text: 'nothing was sent' },
    ],
  };
}
