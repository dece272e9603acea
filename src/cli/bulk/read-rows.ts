import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { Body, BulkOperation } from './operation.ts';
import { Needs } from './preparation.ts';
import { Problems } from './problems.ts';
import type { Layout } from './raw-row.ts';
import { issuesOf, readBodies } from './read-bodies.ts';
import { readFile } from './read-file.ts';
import type { BulkRequest } from './run-bulk.ts';
import type { Row } from './send-rows.ts';

export interface ReadRows {
  readonly rows: readonly Row[];
  /** Where they came from: the name of a file; null for `--count`. */
  readonly file: string | null;
  /** What tells these rows from others: the options, the product, and the bytes of the file or the number of rows. */
  readonly identity: readonly unknown[];
  readonly needs: Needs;
  readonly problems: Problems;
  readonly layout: Layout;
  /** What should be known of rows that can be sent. */
  readonly warnings: readonly string[];
}

/** Options that do not change what the rows ask for. The product has a place of its own, however it was named. */
const ignoredOptions = [
  'file',
  'count',
  'product',
  'run',
  'restart',
  'concurrency',
  'dryRun',
  'idempotencyKey',
  'ifAbsent',
  'yes',
  'githubOutput',
  'skipInvalid',
];

/** Reads all rows once and checks them. */
export async function readRows(
  context: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
): Promise<ReadRows> {
  const { file, count = 0, mode = {} } = request;
  const defaults: Body = JSON.parse(JSON.stringify(request.defaults));
  const options = Object.entries(context.written)
    .filter(([name, text]) => text !== undefined && !ignoredOptions.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const identity = [options, defaults.productId ?? null];
  const needs = new Needs(operation, mode);
  if (file !== undefined) {
    if (request.count !== undefined) throw new UsageError('--count and -f name two lists of rows; give one of them');
    return readRowsOfFile(context, operation, { ...request, file, defaults }, identity, needs);
  }
  const body = operation.arrange?.(defaults) ?? defaults;
  const [issue] = issuesOf(body, operation);
  if (issue !== undefined) throw new UsageError(`the options do not go together: ${issue}`, ['Nothing was sent.']);
  needs.add(body, null);
  const rows = Array.from({ length: count }, (_, at): Row => {
    const row = at + 1;
    return { row, line: null, body, input: [['row', row]] };
  });
  const layout: Layout = { names: ['row'], isByPlace: true, delimiter: ',', mark: '' };
  return { rows, file: null, identity: [...identity, count], needs, problems: new Problems(), layout, warnings: [] };
}

async function readRowsOfFile(
  { io, dryRun }: CommandContext,
  operation: BulkOperation,
  request: BulkRequest & { readonly file: string },
  identity: readonly unknown[],
  needs: Needs,
): Promise<ReadRows> {
  const problems = new Problems();
  problems.skipsRows = request.skipInvalid;
  const source = readFile(request.file, request, problems.add, io);
  const bodies = readBodies(operation, { ...request, mapping: new Map(request.map), problems, io });
  const rows: Row[] = [];
  let row = 0;
  for await (const raw of source.rows) {
    const body = bodies.read(raw);
    // Rows that are left out are counted too: the numbers of the others stay the same when such a row is corrected.
    row += 1;
    if (problems.skipped.has(raw.line)) continue;
    rows.push({ row, line: raw.line, body, input: raw.written });
    needs.add(body, raw.line);
  }
  bodies.end();
  problems.skipsRows = false;
  if (rows.length === 0) {
    for (const [line, texts] of problems.skipped) for (const text of texts) problems.add(line, text);
  }
  // Where rows need nothing, no service has to be asked to tell all problems.
  if (problems.count > 0 && needs.all.size === 0) throw problems.error(source.name, operation.columns, dryRun);
  const guessed = source.guessedEncoding();
  const encoding = guessed === null ? [] : [`${source.name} is read as ${guessed}; if it is not: --encoding NAME`];
  const warnings = [...encoding, ...problems.skippedNotes(), ...bodies.dateNotes(operation.noun)];
  const identified = [...identity, source.digest()];
  return { rows, file: source.name, identity: identified, needs, problems, layout: source.layout(), warnings };
}
