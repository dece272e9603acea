import { toInstant } from '../../domain/time.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { CommandResult } from '../output/result.ts';
import { count as counted, moment } from '../output/words.ts';
import { originOf } from '../request/changes.ts';
import { refuseTaken } from './claim-output.ts';
import { type Finishing, finishJob } from './finish-job.ts';
import { hash, type Job, jobId } from './job.ts';
import { readJob, writeJob } from './job-store.ts';
import type { BulkOperation, Mode } from './operation.ts';
import type { Delimiter } from './options.ts';
import { badFile } from './problems.ts';
import { issuesOf, type RowBody, readBodies } from './read-bodies.ts';
import { readSource } from './read-source.ts';

/** What a bulk command was asked for. */
export interface BulkRequest extends Omit<Finishing, 'retry'> {
  readonly file: string | undefined;
  readonly count?: number | undefined;
  readonly map: readonly (readonly [column: string, field: string])[] | undefined;
  readonly delimiter: Delimiter | undefined;
  readonly run: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The body of a request as far as the options give it. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly mode?: Mode;
}

/**
 * Does with each row of a file, or so many times, what a command does once. The same request again goes on where the first
 * one ended, and in the end gives the same results without sending anything.
 */
export async function runBulk(
  context: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
): Promise<CommandResult> {
  const { io } = context;
  if (request.idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: a run makes one for each row');
  }
  const { digest, rows, name } = await readRows(context, operation, request);
  const identity = { command: operation.command, origin: originOf(await context.target()), name: request.run ?? null };
  const id = jobId({ ...identity, digest });
  const known = readJob(id, io);
  if (known !== null && known.digest !== digest) throw otherRun(known);
  if (context.dryRun) return describeRun(operation, rows);
  const [first] = rows;
  const job: Job = known ?? {
    version: 1,
    id,
    ...identity,
    digest,
    file: name,
    mode: request.mode ?? {},
    rows: rows.length,
    createdAt: toInstant(io.now()),
    body: name === null ? { ...first?.body } : null,
  };
  if (known === null) {
    refuseTaken(context.settings.output, io.cwd, context.settings.force);
    writeJob(job, rows, io);
  }
  return finishJob(context, operation, job, request);
}

interface Rows {
  readonly digest: string;
  readonly rows: readonly RowBody[];
  /** The name of the file; null without one. */
  readonly name: string | null;
}

/** Options that say how a run is done, and not what it does. */
const ofNoImportance = ['file', 'count', 'run', 'concurrency', 'dryRun', 'idempotencyKey', 'yes', 'githubOutput'];

async function readRows(context: CommandContext, operation: BulkOperation, request: BulkRequest): Promise<Rows> {
  const { io, written, dryRun } = context;
  const { defaults, count } = request;
  const told = Object.entries(written).filter(([name, text]) => text !== undefined && !ofNoImportance.includes(name));
  const options = told.sort(([a], [b]) => (a < b ? -1 : 1));
  const product = defaults.productId ?? null;
  const reading = { columns: operation.columns, mapping: new Map(request.map), defaults, schema: operation.schema };
  if (request.file === undefined) {
    const [issue] = issuesOf(defaults, operation.schema, new Map());
    if (issue !== undefined) throw new UsageError(`the options do not go together: ${issue}`, ['Nothing was sent.']);
    const rows = Array.from({ length: count ?? 0 }, () => ({ line: null, body: defaults }));
    return { digest: hash([options, product, count]), rows, name: null };
  }
  if (count !== undefined) throw new UsageError('--count and -f name two lists of rows; give one of them');
  const source = await readSource(request.file, request.delimiter, io);
  const { bodies, problems } = readBodies(source, reading, io);
  if (problems.length > 0) throw badFile(source.name, problems, { all: dryRun });
  return { digest: hash([options, product, source.digest]), rows: bodies, name: source.name };
}

const otherRun = ({ name, file, rows, createdAt }: Job): UsageError =>
  new UsageError(
    `the run ${name} of ${moment(createdAt)} was another one: ${counted(rows, 'row')} of ${file ?? '--count'}`,
    ['Nothing was sent. A run has the same options and the same rows each time; give this one another name.'],
  );

/** What a run would send. */
function describeRun({ noun, done }: BulkOperation, rows: readonly RowBody[]): CommandResult {
  const [first] = rows;
  const text = `${counted(rows.length, 'row')}, no problems: each would be ${done} as a ${noun}. The first:`;
  return {
    kind: 'page',
    page: () => `${text}\n\n${JSON.stringify(first?.body ?? {}, null, 2)}\n`,
    data: { dryRun: true, rows: rows.length, first: first?.body ?? null },
    quiet: [],
    notes: [{ tone: 'hint', text: 'nothing was sent' }],
  };
}
