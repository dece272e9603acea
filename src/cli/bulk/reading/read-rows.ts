import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { Dependencies } from '../dependencies.ts';
import type { Body, BulkOperation } from '../operation.ts';
import type { BulkRequest } from '../request.ts';
import { openPreset, recognise } from './presets/apply.ts';
import { joinDevices } from './presets/devices.ts';
import { Problems } from './problems.ts';
import { type Layout, OWN_LAYOUT, type RawRow } from './raw-row.ts';
import { issuesOf, readBodies } from './read-bodies.ts';
import { readFiles } from './read-file.ts';
import { withSavedMap } from './saved-map.ts';

export interface Row {
  /** The number of the row, from 1. */
  readonly row: number;
  /** The line in the file; null without a file. */
  readonly line: number | null;
  readonly body: Body;
  /** Names and values from the file. */
  readonly input: RawRow['written'];
}

export interface ReadRows {
  readonly rows: readonly Row[];
  /** The name of the file, or how many files; null for `--count`. */
  readonly file: string | null;
  /** Identifies the run: the options, the product, and the bytes of the files or the number of rows. */
  readonly identity: readonly unknown[];
  readonly dependencies: Dependencies;
  readonly problems: Problems;
  readonly layout: Layout;
  /** Warnings about rows that can be sent. */
  readonly warnings: readonly string[];
}

/** Options that do not change the requests. The product is identified apart, by its id. */
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
  'saveMap',
  'mapFrom',
];

/** Reads all rows once and checks them. */
export async function readRows(
  context: CommandContext,
  operation: BulkOperation,
  given: BulkRequest,
): Promise<ReadRows> {
  const { request, written } = withSavedMap(given, context);
  const { file, mode = {} } = request;
  if (file !== undefined && request.count !== undefined) {
    throw new UsageError('--count and -f name two lists of rows; give one of them');
  }
  // As the defaults are sent: without undefined.
  const defaults: Body = JSON.parse(JSON.stringify(request.defaults));
  const dependencies = new Dependencies(operation, mode);
  const { identity, ...read } =
    file === undefined
      ? equalRows(operation, request.count ?? 0, defaults, dependencies)
      : await rowsOfFiles(operation, { ...request, files: file, defaults }, dependencies, context.io);
  const options = Object.entries(written)
    .filter(([name, text]) => text !== undefined && !ignoredOptions.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...read, identity: [options, defaults.productId ?? null, ...identity], dependencies };
}

/** The rows of `--count`, which have the values of the options. */
function equalRows(operation: BulkOperation, rowCount: number, defaults: Body, dependencies: Dependencies) {
  const body = operation.arrange?.(defaults) ?? defaults;
  const [issue] = issuesOf(body, operation);
  if (issue !== undefined) throw new UsageError(`the options do not go together: ${issue}`, ['Nothing was sent.']);
  dependencies.add(body, null);
  const rows = Array.from({ length: rowCount }, (_, at): Row => {
    const row = at + 1;
    return { row, line: null, body, input: [['row', row]] };
  });
  return { rows, file: null, identity: [rowCount], problems: new Problems([]), layout: OWN_LAYOUT, warnings: [] };
}

type FilesRequest = BulkRequest & { readonly files: readonly string[] };

async function rowsOfFiles(operation: BulkOperation, request: FilesRequest, dependencies: Dependencies, io: Io) {
  const { files, foreign: { from } = {}, skipInvalid = false } = request;
  const problems = new Problems(files);
  problems.skipsRows = skipInvalid;
  const source = readFiles(files, request, problems.add, io);
  const foreign = await openForeign(request, problems, io);
  const bodies = readBodies(operation, {
    ...request,
    mapping: from === undefined ? new Map(request.map) : new Map(),
    dateFormat: request.dateFormat ?? (from && 'epoch'),
    problems,
    io,
  });
  const rows: Row[] = [];
  let row = 0;
  for await (const raw of source.rows) {
    if (row === 0) foreign.recognise(raw);
    // Skipped rows are counted too: the numbers of the other rows stay the same when a skipped row is corrected.
    row += 1;
    const own = foreign.read(raw);
    if (own === null) continue;
    const body = bodies.read(own);
    if (problems.skipped.has(raw.line)) continue;
    rows.push({ row, line: raw.line, body, input: raw.written });
    dependencies.add(body, raw.line);
  }
  bodies.end();
  problems.endSkipping(rows.length > 0);
  const name = files.length === 1 ? String(source.names[0]) : `the ${count(files.length, 'file')}`;
  // Without dependencies, all problems are known before the service is asked.
  if (problems.count > 0 && dependencies.all.size === 0) throw problems.error(name, operation.columns);
  const warnings = [
    ...source.guessedEncodings(),
    ...foreign.notes(),
    ...problems.skippedNotes(),
    ...bodies.notes(operation.noun),
    ...(operation.warningsOf?.(rows.map(({ body }) => body)) ?? []),
  ];
  const identity = [...source.digests(), ...foreign.digests];
  return { rows, file: name, identity, problems, layout: source.layout(), warnings };
}

/** Turns rows of another system into rows of lkm, with devices from other files. */
async function openForeign(request: FilesRequest, problems: Problems, io: Io) {
  const { foreign, map = [] } = request;
  const { from, deviceFiles = [], productMap = [], testKeys = false } = foreign ?? {};
  const files = readFiles(
    deviceFiles,
    request,
    (line, text) => problems.add(null, `--devices: line ${line}: ${text}`),
    io,
  );
  const devices = joinDevices(await Array.fromAsync(files.rows), from);
  const options = { productMap: new Map(productMap), takesTests: testKeys, mapping: new Map(map) };
  const preset = from === undefined ? null : openPreset(from, options);
  return {
    digests: files.digests(),
    /** Names the option for a file of another system. */
    recognise({ cells }: RawRow): void {
      const looksLike = recognise(cells.map(([name]) => name));
      if (looksLike === null || looksLike === from || foreign === undefined) return;
      const text = `this looks like a file of ${looksLike}: --from ${looksLike}`;
      if (from === undefined) problems.hints.push(text);
      else throw new UsageError(text);
    },
    read(raw: RawRow): RawRow | null {
      if (preset !== null) return preset.read(raw, devices.of);
      const cells = raw.cells.map(([name, value]) => {
        const mapped = /^product(?:Id)?$/i.test(name) ? options.productMap.get(String(value)) : undefined;
        return [name, mapped ?? value] as const;
      });
      const ids = cells.filter(([name]) => /^(?:licen[cs]e)?[-_ ]?(?:key|id)$/i.test(name)).map(([, value]) => value);
      const own = devices.of(ids);
      return { ...raw, cells: own.length === 0 ? cells : [...cells, ['devices', own]] };
    },
    notes(): readonly string[] {
      const unmatched = devices.unmatched();
      return [
        ...(preset?.notes() ?? []),
        ...(unmatched === 0 ? [] : [`${count(unmatched, 'device')} of keys that are not in the file left out`]),
      ];
    },
  };
}
