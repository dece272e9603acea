import { createHash } from 'node:crypto';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { count } from '../output/words.ts';
import { keepAside, listRuns, type Run, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import type { Columns } from './columns.ts';
import type { Body, BulkOperation } from './operation.ts';
import { Needs } from './preparation.ts';
import { issuesOf, readBodies } from './read-bodies.ts';
import { type Report, readFile } from './read-file.ts';
import { hash } from './run.ts';
import type { BulkRequest } from './run-bulk.ts';

export interface ReadRows extends Pick<Run, 'digest' | 'rows' | 'file' | 'scope' | 'rowsDigest'> {
  readonly first: Body;
  readonly needs: Needs;
  readonly problems: Problems;
  /** What should be known of rows that can be sent. */
  readonly warnings: readonly string[];
  /** The earlier runs whose rows the file begins with, where doing these rows again would do more. */
  readonly repeated: readonly StoredRun[];
}

/** Options that say how a run is done, and not what it does; the digest leaves them out. */
const ignoredOptions = [
  'file',
  'count',
  'run',
  'concurrency',
  'dryRun',
  'idempotencyKey',
  'yes',
  'githubOutput',
  'skipInvalid',
];

/** Reads all rows once, checks them, and keeps them aside for a run. */
export async function readRows(
  context: CommandContext,
  operation: BulkOperation,
  request: BulkRequest,
  origin: string,
  state: State | null,
): Promise<ReadRows> {
  const { file, count, mode = {} } = request;
  const defaults: Body = JSON.parse(JSON.stringify(request.defaults));
  const options = Object.entries(context.written)
    .filter(([name, text]) => text !== undefined && !ignoredOptions.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const identity = [options, defaults.productId ?? null];
  const needs = new Needs(operation, mode);
  if (file !== undefined) {
    if (count !== undefined) throw new UsageError('--count and -f name two lists of rows; give one of them');
    const given = { ...request, file, defaults, origin, state, identity, needs };
    return readRowsOfFile(context, operation, given);
  }
  const first = operation.arrange?.(defaults) ?? defaults;
  const [issue] = issuesOf(first, operation);
  if (issue !== undefined) throw new UsageError(`the options do not go together: ${issue}`, ['Nothing was sent.']);
  needs.add(first, null);
  const digest = hash([...identity, count]);
  return { digest, rows: count ?? 0, file: null, first, needs, problems: new Problems(), warnings: [], repeated: [] };
}

interface OfFile
  extends Pick<BulkRequest, 'map' | 'delimiter' | 'encoding' | 'dateFormat' | 'noDate' | 'skipInvalid' | 'defaults'> {
  readonly file: string;
  readonly origin: string;
  readonly state: State | null;
  /** The options and the product. */
  readonly identity: readonly unknown[];
  readonly needs: Needs;
}

async function readRowsOfFile(
  { io, dryRun }: CommandContext,
  operation: BulkOperation,
  { file, map, delimiter, encoding, dateFormat, noDate, skipInvalid, defaults, origin, state, identity, needs }: OfFile,
): Promise<ReadRows> {
  const problems = new Problems();
  problems.skipsRows = skipInvalid;
  const source = readFile(file, { delimiter, encoding }, problems.add, io);
  const bodies = readBodies(operation, { mapping: new Map(map), defaults, problems, dateFormat, noDate, io });
  const keep = state === null || dryRun ? () => {} : keepAside(state);
  const scope = hash(identity);
  const earlier = (state === null ? [] : listRuns(state)).filter(
    ({ run }) => run.command === operation.command && run.origin === origin && run.scope === scope,
  );
  const repeated: StoredRun[] = [];
  const rowsHash = createHash('sha256');
  let rows = 0;
  let first: Body = {};
  let hasUnsafeRow = false;
  for await (const row of source.rows) {
    const body = bodies.read(row);
    if (problems.skipped.has(row.line)) continue;
    if (rows === 0) first = body;
    rows += 1;
    rowsHash.update(`${JSON.stringify(row.cells)}\n`);
    hasUnsafeRow ||= operation.repeatsSafely !== true && operation.refusesAgain?.(body) !== true;
    const asLong = hasUnsafeRow ? earlier.filter(({ run }) => run.rows === rows) : [];
    repeated.push(...asLong.filter(({ run }) => run.rowsDigest === rowsHash.copy().digest('hex')));
    needs.add(body, row.line);
    // What is wrong is never sent: then there is nothing to write down.
    if (problems.count === 0) keep({ line: row.line, body });
  }
  bodies.end();
  problems.skipsRows = false;
  if (rows === 0) for (const [line, texts] of problems.skipped) for (const text of texts) problems.add(line, text);
  // Where rows need nothing, no service has to be asked to tell all problems.
  if (problems.count > 0 && needs.all.size === 0) throw problems.error(source.name, operation.columns, dryRun);
  const digest = hash([...identity, source.digest()]);
  const rowsDigest = rowsHash.digest('hex');
  const warnings = [...problems.skippedNotes(), ...bodies.dateNotes(operation.noun)];
  return { digest, rows, file: source.name, scope, rowsDigest, first, needs, problems, warnings, repeated };
}

const SHOWN = 20;
const MAX_SHOWN = 1_000;

/** The problems of a file: all are counted, the first ones of its rows are kept. */
export class Problems {
  count = 0;
  /** Whether a name was none of a column: then all of them are shown. */
  showsFields = false;
  /** What would help, below all problems. */
  readonly hints: string[] = [];
  readonly #kept: { readonly line: number | null; readonly text: string }[] = [];

  /** Whether a row that has a problem is left out, with what is wrong with it; else it stops the file. */
  skipsRows = false;
  readonly skipped = new Map<number, string[]>();

  readonly add: Report = (line, text) => {
    if (this.skipsRows && line !== null) {
      this.skipped.set(line, [...(this.skipped.get(line) ?? []), text]);
      return;
    }
    this.count += 1;
    if (line === null || this.#kept.length < MAX_SHOWN) this.#kept.push({ line, text });
  };

  /** Which rows were left out, and why. */
  skippedNotes(): readonly string[] {
    const notes = [...this.skipped].map(([line, texts]) => `left out line ${line}: ${texts.join('; ')}`);
    const more = notes.length - SHOWN;
    return [...notes.slice(0, SHOWN), ...(more > 0 ? [`left out ${count(more, 'more row')}`] : [])];
  }

  /** The error for a file that cannot be sent as it is; `isWhole` shows as many problems as are kept. */
  error(name: string, { single, families }: Columns, isWhole: boolean): UsageError {
    const sorted = this.#kept.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
    const shown = sorted.slice(0, isWhole ? MAX_SHOWN : SHOWN);
    const more = this.count - shown.length;
    const how = this.count > MAX_SHOWN ? `${MAX_SHOWN} of them` : 'all';
    const fields = [...single.map(({ name }) => name), ...families.map(({ prefix }) => `${prefix}NAME`)];
    return new UsageError(`${name} has ${count(this.count, 'problem')}; nothing was sent`, [
      ...shown.map(({ line, text }) => (line === null ? text : `line ${line}: ${text}`)),
      ...(more > 0 ? [`and ${more} more${isWhole ? '' : `; --dry-run shows ${how}`}`] : []),
      ...this.hints,
      ...(this.showsFields ? [`known fields: ${fields.join(', ')}`] : []),
    ]);
  }
}
