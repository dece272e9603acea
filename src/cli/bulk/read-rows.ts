import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { keepAside } from '../state/rows.ts';
import type { StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import { compareWithEarlierRuns } from './earlier-runs.ts';
import type { Body, BulkOperation } from './operation.ts';
import { collectNeeds, type Needs } from './preparation.ts';
import { readHeader } from './reading/header.ts';
import { openRows } from './reading/open-rows.ts';
import { badFile, collectProblems, type Problems } from './reading/problems.ts';
import { issuesOf, readBodies } from './reading/read-bodies.ts';
import { hash, type Run } from './run.ts';
import type { BulkRequest } from './run-bulk.ts';

/** What is known of the rows of a run before it begins. */
interface ReadRows extends Pick<Run, 'digest' | 'rows' | 'file' | 'scope' | 'rowsDigest'> {
  readonly first: Body;
  readonly needs: Needs;
  readonly problems: Problems;
  /** The earlier runs whose rows the file begins with. */
  readonly repeated: readonly StoredRun[];
}

/** Options that say how a run is done, and not what it does; the digest leaves them out. */
const ignoredOptions = ['file', 'count', 'run', 'concurrency', 'dryRun', 'idempotencyKey', 'yes', 'githubOutput'];

/** Reads all rows once, checks them, and keeps them aside for a run. */
export async function readRows(
  { io, written, dryRun }: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
  origin: string,
  state: State | null,
): Promise<ReadRows> {
  const { defaults, count } = request;
  const options = Object.entries(written)
    .filter(([name, text]) => text !== undefined && !ignoredOptions.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const product = defaults.productId ?? null;
  const needs = collectNeeds(operation, request.mode ?? {});
  const problems = collectProblems();
  if (request.file === undefined) {
    const first = operation.arrange?.(defaults) ?? defaults;
    const [issue] = issuesOf(first, operation);
    if (issue !== undefined) throw new UsageError(`the options do not go together: ${issue}`, ['Nothing was sent.']);
    request.onRow?.(first);
    needs.add({ line: null, body: first });
    const digest = hash([options, product, count]);
    return { digest, rows: count ?? 0, file: null, first, needs, problems, repeated: [] };
  }
  if (count !== undefined) throw new UsageError('--count and -f name two lists of rows; give one of them');
  const scope = hash([options, product]);
  const source = openRows(request.file, request.delimiter, io);
  const header = readHeader(operation.columns, new Map(request.map));
  const bodies = readBodies(operation, header, defaults, problems, io);
  const earlier = compareWithEarlierRuns(operation, { origin, scope }, state);
  const keep = state === null || dryRun ? () => {} : keepAside(state);
  let rows = 0;
  let first: Body = {};
  for await (const row of source.rows) {
    if ('text' in row) {
      problems.add(row);
      continue;
    }
    const read = bodies.read(row);
    if (rows === 0) first = read.body;
    rows += 1;
    earlier.add(row, read.body);
    request.onRow?.(read.body);
    needs.add(read);
    // What is wrong is never sent: then there is nothing to write down.
    if (problems.count === 0) keep(read);
  }
  bodies.end();
  // Where rows need nothing, no service has to be asked to tell all problems.
  if (problems.count > 0 && needs.needs.size === 0) throw badFile(source.name, problems, dryRun);
  const digest = hash([options, product, source.digest()]);
  const { repeated } = earlier;
  return { digest, rows, file: source.name, scope, rowsDigest: earlier.digest(), first, needs, problems, repeated };
}
