import { resolve } from 'node:path';
import { toInstant } from '../../domain/time.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { severalAsEnv } from '../output/delimited.ts';
import type { CommandResult } from '../output/result.ts';
import { count as counted, moment } from '../output/words.ts';
import { originOf } from '../request/changes.ts';
import { createRun, keepAside, readRun, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import { compareWithEarlierRuns, refuseRepeatedPrefix } from './earlier-runs.ts';
import { type Finishing, finishRun } from './finish-run.ts';
import type { BulkOperation, Mode } from './operation.ts';
import { collectNeeds, planNeeds } from './preparation.ts';
import { previewRun } from './preview-run.ts';
import { openRows } from './reading/open-rows.ts';
import { badFile, collectProblems, type Problems } from './reading/problems.ts';
import { issuesOf, type RowBody, readBodies } from './reading/read-bodies.ts';
import type { Delimiter } from './reading/read-csv.ts';
import { refuseTaken } from './result-file.ts';
import { hash, type Run, runId } from './run.ts';

/** The input of a bulk command. */
export interface BulkRequest extends Omit<Finishing, 'retry' | 'found'> {
  readonly file: string | undefined;
  readonly count?: number | undefined;
  readonly map: readonly (readonly [column: string, field: string])[] | undefined;
  readonly delimiter: Delimiter | undefined;
  readonly run: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The body of a request as far as the options give it. */
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly mode?: Mode;
  /** Called with each row as it is read. */
  onRow?(body: RowBody['body']): void;
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
  const { output, fileFormat } = settings;
  if (request.idempotencyKey !== undefined) {
    throw new UsageError('one idempotency key stands for one request: a run makes one for each row');
  }
  if (context.settings.format === 'env' && request.count !== 1) throw severalAsEnv();
  const state = await (dryRun ? context.knownState() : context.state());
  const read = await readRows(context, operation, request, state);
  const { digest, rows, first, file, runsOfPrefix } = read;
  const identity = {
    command: operation.command,
    origin: originOf(await context.target()),
    name: request.run ?? null,
  };
  const id = runId({ ...identity, digest });
  const known = state === null ? null : readRun(state, id);
  if (known !== null && known.run.digest !== digest) throw otherRun(known.run);
  if (known === null && file !== null && request.run === undefined) {
    refuseRepeatedPrefix(runsOfPrefix(identity.origin), operation, { name: file, rows, now: io.now() }, state);
  }
  const plan =
    known === null || dryRun
      ? await planNeeds(context, operation, read.needs, read.problems)
      : { found: new Map(), planned: [] };
  if (read.problems.count > 0) throw badFile(file ?? 'the command line', read.problems, dryRun);
  if (dryRun || state === null) return previewRun(operation, { rows, first, needed: plan.planned });
  const { scope, rowsDigest } = read;
  const run: Run = known?.run ?? {
    id,
    ...identity,
    digest,
    file,
    mode: request.mode ?? {},
    rows,
    output: output === null ? null : { path: resolve(io.cwd, output), format: fileFormat },
    ...(file !== null && { scope, rowsDigest }),
    createdAt: toInstant(io.now()),
    body: file === null ? { ...first } : null,
  };
  if (known === null) {
    refuseTaken(() => [], context.settings, io);
    await request.confirm?.(rows);
  }
  return finishRun(context, operation, known ?? createRun(state, run), { ...request, found: plan.found });
}

interface Rows {
  readonly digest: string;
  readonly rows: number;
  readonly first: RowBody['body'];
  /** The name of the file; null without one. */
  readonly file: string | null;
  readonly scope: string;
  readonly rowsDigest: string;
  /** The runs of a service whose rows the file begins with. */
  runsOfPrefix(origin: string): readonly StoredRun[];
  readonly needs: ReturnType<typeof collectNeeds>;
  readonly problems: Problems;
}

/** Options that say how a run is done, and not what it does; the digest leaves them out. */
const ignoredOptions = ['file', 'count', 'run', 'concurrency', 'dryRun', 'idempotencyKey', 'yes', 'githubOutput'];

/** Reads all rows once, checks them, and writes them down. */
async function readRows(
  context: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
  state: State | null,
): Promise<Rows> {
  const { io, written, dryRun } = context;
  const { defaults, count } = request;
  const given = Object.entries(written).filter(([name, text]) => text !== undefined && !ignoredOptions.includes(name));
  const options = given.sort(([a], [b]) => (a < b ? -1 : 1));
  const product = defaults.productId ?? null;
  const scope = hash([options, product]);
  const needs = collectNeeds(operation, request.mode ?? {});
  const problems = collectProblems();
  if (request.file === undefined) {
    const first = operation.arrange({ ...defaults });
    const [issue] = issuesOf(operation.checked(first), operation.schema);
    if (issue !== undefined) throw new UsageError(`the options do not go together: ${issue}`, ['Nothing was sent.']);
    const digest = hash([options, product, count]);
    request.onRow?.(first);
    needs.add({ line: null, body: first });
    const none = { file: null, scope, rowsDigest: '', runsOfPrefix: () => [] };
    return { digest, rows: count ?? 0, first, ...none, needs, problems };
  }
  if (count !== undefined) throw new UsageError('--count and -f name two lists of rows; give one of them');
  const source = openRows(request.file, request.delimiter, io);
  const mapping = new Map(request.map);
  const bodies = readBodies({ operation, mapping, defaults }, io);
  const earlier = compareWithEarlierRuns(operation, scope, state);
  const add = state === null || dryRun ? () => {} : keepAside(state);
  let first: RowBody['body'] | null = null;
  for await (const row of source.rows) {
    if ('text' in row) {
      problems.add(row);
      continue;
    }
    const { body, problems: found } = bodies.read(row);
    first ??= body.body;
    for (const problem of found) problems.add(problem);
    earlier.add(row, body.body);
    request.onRow?.(body.body);
    needs.add(body);
    // What is wrong is never sent: then there is nothing to write down.
    if (problems.count === 0) add(body);
  }
  for (const problem of bodies.end()) problems.add(problem);
  // Where rows need nothing, no service has to be asked to tell all problems.
  if (problems.count > 0 && needs.needs.size === 0) throw badFile(source.name, problems, dryRun);
  const { rows, digest: rowsDigest, runsOfPrefix } = earlier.end();
  const digest = hash([options, product, source.digest()]);
  return { digest, rows, first: first ?? {}, file: source.name, scope, rowsDigest, runsOfPrefix, needs, problems };
}

const otherRun = ({ name, file, rows, createdAt }: Run): UsageError =>
  new UsageError(
    `the run ${name} of ${moment(createdAt)} was another one: ${counted(rows, 'row')} of ${file ?? '--count'}`,
    ['Nothing was sent. A run has the same options and the same rows each time; give this one another name.'],
  );
