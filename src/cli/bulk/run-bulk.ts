import { resolve } from 'node:path';
import { toInstant } from '../../domain/time.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { severalAsEnv } from '../output/render.ts';
import type { CommandResult } from '../output/result.ts';
import { count, moment } from '../output/words.ts';
import { originOf } from '../request/changes.ts';
import { rowsOf } from '../state/rows.ts';
import { createRun, readRun, type StoredRun } from '../state/runs.ts';
import { refuseRepeated } from './earlier-runs.ts';
import { type Finishing, finishRun } from './finish-run.ts';
import type { Body, BulkOperation, Mode } from './operation.ts';
import { keepPlanned, type PlannedNeed, planNeeds } from './preparation.ts';
import { readRows } from './read-rows.ts';
import { badFile } from './reading/problems.ts';
import type { Delimiter } from './reading/read-csv.ts';
import { refuseTaken } from './results.ts';
import { type Run, runId } from './run.ts';

/** The input of a bulk command. */
export interface BulkRequest extends Pick<Finishing, 'concurrency' | 'notesOnSent'> {
  readonly file: string | undefined;
  readonly count?: number | undefined;
  readonly map: readonly (readonly [column: string, field: string])[] | undefined;
  readonly delimiter: Delimiter | undefined;
  readonly run: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The body of a request as far as the options give it. */
  readonly defaults: Body;
  readonly mode?: Mode;
  /** Called with each row as it is read. */
  onRow?(body: Body): void;
  /** Asks whether a run that is new may begin; nothing is written down or sent unless it resolves. */
  confirm?(rows: number): Promise<void>;
}

/**
 * Sends one request for each row of a file, or `count` requests. The same bulk command run again continues where the
 * first one ended; when all rows are done it returns the same results without sending anything.
 */
export async function runBulk(
  context: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
): Promise<CommandResult> {
  const { io, dryRun, settings } = context;
  if (request.idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: a run makes one for each row');
  }
  if (settings.format === 'env' && request.count !== 1) throw severalAsEnv();
  const state = await (dryRun ? context.knownState() : context.state());
  const { command } = operation;
  const origin = originOf(await context.target());
  const name = request.run ?? null;
  const { first, needs, problems, repeated, ...read } = await readRows(context, operation, request, origin, state);
  const { digest, rows, file } = read;
  const id = runId({ command, origin, name, digest });
  const known = state === null ? null : readRun(state, id);
  if (known !== null && known.run.digest !== digest) throw otherRun(known.run);
  if (known === null && state !== null && file !== null && name === null) {
    refuseRepeated(repeated, operation, { file, rows }, state, io);
  }
  const planned = known === null || dryRun ? await planNeeds(context, operation, needs, problems) : [];
  if (problems.count > 0) throw badFile(file ?? 'the command line', problems, dryRun);
  if (dryRun || state === null) return previewRun(operation, rows, first, planned);
  const finish = (stored: StoredRun) =>
    finishRun(context, { ...stored, state, operation, rows: rowsOf(state, stored, operation, io) }, request);
  if (known !== null) return finish(known);
  refuseTaken(() => [], settings, io);
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
  keepPlanned(state, stored, planned);
  return finish(stored);
}

const otherRun = ({ name, file, rows, createdAt }: Run): UsageError =>
  new UsageError(
    `the run ${name} of ${moment(createdAt)} was another one: ${count(rows, 'row')} of ${file ?? '--count'}`,
    ['Nothing was sent. A run has the same options and the same rows each time; give this one another name.'],
  );

/** What a run would send. */
function previewRun(
  { noun, done }: BulkOperation,
  rows: number,
  first: Body,
  needed: readonly PlannedNeed[],
): CommandResult {
  const text = `${count(rows, 'row')}, no problems: each would be ${done} as a ${noun}. The first:`;
  const needs = [...Map.groupBy(needed, ({ kind }) => kind)].map(listNeeds).join('');
  return {
    kind: 'text',
    draw: () => `${text}\n\n${JSON.stringify(first, null, 2)}\n${needs}`,
    data: { dryRun: true, rows, first, ...(needed.length > 0 && { needed }) },
    quiet: [],
    notes: [{ tone: 'hint', text: 'nothing was sent' }],
  };
}

const SHOWN = 20;

/** What the rows refer to, of one kind; what would be made comes first. */
function listNeeds([kind, all]: readonly [string, readonly PlannedNeed[]]): string {
  const { new: made = [], exists = [] } = Object.groupBy(all, ({ status }) => status);
  const shown = [...made, ...exists].slice(0, SHOWN);
  const width = Math.max(...shown.map(({ name }) => name.length));
  return [
    '',
    `${kind}s: ${made.length} would be made, ${exists.length} are there`,
    ...shown.map(({ name, id }) => `  ${name.padEnd(width)}  ${id ?? 'would be made'}`),
    ...(all.length > SHOWN ? [`  and ${all.length - SHOWN} more; --json shows all`] : []),
    '',
  ].join('\n');
}
