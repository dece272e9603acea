import { createHash } from 'node:crypto';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { keepAside, listRuns, type Run, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import type { Body, BulkOperation } from './operation.ts';
import { Needs } from './preparation.ts';
import { Problems } from './problems.ts';
import { issuesOf, readBodies } from './read-bodies.ts';
import { type RawRow, readFile } from './read-file.ts';
import { hash } from './run.ts';
import type { BulkRequest } from './run-bulk.ts';

interface ReadRows extends Pick<Run, 'digest' | 'rows' | 'file' | 'scope' | 'rowsDigest'> {
  readonly first: Body;
  readonly needs: Needs;
  readonly problems: Problems;
  /** The earlier runs whose rows the file begins with, where doing these rows again would do more. */
  readonly repeated: readonly StoredRun[];
}

/** Options that say how a run is done, and not what it does; the digest leaves them out. */
const ignoredOptions = ['file', 'count', 'run', 'concurrency', 'dryRun', 'idempotencyKey', 'yes', 'githubOutput'];

/** Reads all rows once, checks them, and keeps them aside for a run. */
export async function readRows(
  { io, written, dryRun }: CommandContext,
  operation: BulkOperation,
  { file, count, defaults, mode = {}, map, delimiter }: BulkRequest,
  origin: string,
  state: State | null,
): Promise<ReadRows> {
  const options = Object.entries(written)
    .filter(([name, text]) => text !== undefined && !ignoredOptions.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const product = defaults.productId ?? null;
  const needs = new Needs(operation, mode);
  const problems = new Problems();
  if (file === undefined) {
    const first = operation.arrange?.(defaults) ?? defaults;
    const [issue] = issuesOf(first, operation);
    if (issue !== undefined) throw new UsageError(`the options do not go together: ${issue}`, ['Nothing was sent.']);
    needs.add(first, null);
    const digest = hash([options, product, count]);
    return { digest, rows: count ?? 0, file: null, first, needs, problems, repeated: [] };
  }
  if (count !== undefined) throw new UsageError('--count and -f name two lists of rows; give one of them');
  const scope = hash([options, product]);
  const report = problems.add.bind(problems);
  const source = readFile(file, delimiter, report, io);
  const bodies = readBodies(operation, { mapping: new Map(map), defaults, problems, io });
  const earlier = compareWithEarlierRuns(operation, state, { origin, scope });
  const keep = state === null || dryRun ? () => {} : keepAside(state);
  let rows = 0;
  let first: Body = {};
  for await (const row of source.rows) {
    const body = bodies.read(row);
    if (rows === 0) first = body;
    rows += 1;
    earlier.add(row, body);
    needs.add(body, row.line);
    // What is wrong is never sent: then there is nothing to write down.
    if (problems.count === 0) keep({ line: row.line, body });
  }
  bodies.end();
  // Where rows need nothing, no service has to be asked to tell all problems.
  if (problems.count > 0 && needs.all.size === 0) throw problems.error(source.name, operation.columns, dryRun);
  const digest = hash([options, product, source.digest()]);
  const { repeated } = earlier;
  return { digest, rows, file: source.name, scope, rowsDigest: earlier.digest(), first, needs, problems, repeated };
}

/** Compares the rows of a file, as they come, with those of earlier runs of the same service and options. */
function compareWithEarlierRuns(
  { command, repeatsSafely = false, refusesAgain }: BulkOperation,
  state: State | null,
  { origin, scope }: Pick<Run, 'origin' | 'scope'>,
) {
  const earlier = (state === null ? [] : listRuns(state)).filter(
    ({ run }) => run.command === command && run.origin === origin && run.scope === scope,
  );
  const repeated: StoredRun[] = [];
  const whole = createHash('sha256');
  let rows = 0;
  let hasUnsafeRow = false;

  function add({ cells }: RawRow, body: Body): void {
    rows += 1;
    whole.update(`${JSON.stringify(cells)}\n`);
    hasUnsafeRow ||= !repeatsSafely && refusesAgain?.(body) !== true;
    const asLong = hasUnsafeRow ? earlier.filter(({ run }) => run.rows === rows) : [];
    if (asLong.length === 0) return;
    const digest = whole.copy().digest('hex');
    repeated.push(...asLong.filter(({ run }) => run.rowsDigest === digest));
  }

  /** SHA-256 of the rows, whatever the form of the file. */
  return { add, repeated, digest: () => whole.digest('hex') };
}
