import type { Format } from '../global-options.ts';
import type { Destination } from './destination.ts';
import type { JsonFilter } from './filter.ts';
import { type RenderContext, renderResult, viewOf } from './render.ts';
import type { CommandResult, WholeResult } from './result.ts';
import { print, type Repeat, unwritable } from './standard-output.ts';
import { type Note, sanitise, talk } from './terminal.ts';
import { count } from './words.ts';

export interface WriteContext extends RenderContext {
  readonly destination: Destination | null;
  readonly filter: JsonFilter | null;
  rerun(idempotencyKey: string): string;
}

/** Writes a result, then its notes. Resolves to false when the reader is gone. Throws `LocalError`. */
export async function writeResult(result: CommandResult, context: WriteContext): Promise<boolean> {
  const { settings, io, destination, filter } = context;
  if (result.kind === 'stream') return writeStream(result, context);
  if (result.kind === 'chunks') return writeChunks(result, context);
  // The document goes to the file; stdout describes it.
  const becomesFile = result.kind === 'file' && destination !== null;
  const isIndented = becomesFile || (destination === null && io.stdout.isTTY && result.afterwards === undefined);
  const hidden = new Set<string>();
  const rendered = await renderResult(result, context, { isIndented, hidden });
  const text = filter === null ? rendered : filter.apply(rendered, result);
  if (destination !== null) await writeFile(becomesFile ? result.content : text, result, destination, context);
  const isPrinted = destination === null || (becomesFile && settings.format.startsWith('json'));
  const repeat = () => howToRepeat(result, context, 'where it can be written');
  const printed = result.kind === 'file' || filter !== null ? printable(text, context) : text;
  const isTaken = !isPrinted || (await print(printed, io, repeat));
  await talk(
    [...writtenNote(result, context), ...emptyNote(result), ...hiddenNote(hidden), ...(result.notes ?? [])],
    settings,
    io,
  );
  return isTaken;
}

async function writeFile(
  content: string,
  result: WholeResult,
  destination: Destination,
  context: WriteContext,
): Promise<void> {
  await destination.write(content, result).catch((error: unknown) => {
    throw unwritable(String(context.settings.output), error, howToRepeat(result, context, 'for another file'));
  });
}

/** Keeps one part in memory. */
async function writeChunks(
  result: Extract<CommandResult, { kind: 'chunks' }>,
  context: WriteContext,
): Promise<boolean> {
  const { settings, io, destination, filter } = context;
  const chunks = filter === null ? result.chunks : filteredWhole(result, filter);
  if (destination === null) {
    // Chunks end at line ends.
    for await (const chunk of chunks) if (!(await print(printable(chunk, context), io))) return false;
  } else {
    await destination.write(chunks, result).catch((error: unknown) => {
      // Other errors come from the service.
      throw error instanceof Error && 'syscall' in error ? unwritable(String(settings.output), error) : error;
    });
  }
  await talk(result.notes ?? [], settings, io);
  return true;
}

async function* filteredWhole(result: Extract<CommandResult, { kind: 'chunks' }>, filter: JsonFilter) {
  yield filter.apply((await Array.fromAsync(result.chunks)).join(''), result);
}

type Stream = Extract<CommandResult, { kind: 'stream' }>;

/** Writes a line per object: JSON, csv, the command's own line on a terminal, or tabs. */
async function writeStream(result: Stream, context: WriteContext): Promise<boolean> {
  const { stream, quietOf, lineOf } = result;
  const { settings, io, chosen, filter } = context;
  const isDrawn = io.stdout.isTTY && settings.format === 'table' && !settings.quiet && chosen === null;
  if (lineOf && isDrawn) return drawStream(stream, lineOf, context);
  const inLines = { ...context, settings: { ...settings, fileFormat: lineFormat(settings.format) } };
  const printRows = async (rows: readonly Record<string, unknown>[], hasHeader: boolean): Promise<boolean> => {
    const part: WholeResult = { kind: 'rows', rows, data: rows, quiet: rows.map(quietOf), empty: '' };
    const text = await renderResult(part, inLines, { hasHeader });
    return print(filter === null ? text : printable(filter.apply(text, result), context), io);
  };
  // Immediately, so that the reader knows the columns while waiting for a row.
  if (!(await printRows([], true))) return false;
  for await (const rows of stream) if (!(await printRows(rows, false))) return false;
  return true;
}

/** Writes each object as the command shows it on a terminal. */
async function drawStream(
  stream: Stream['stream'],
  lineOf: NonNullable<Stream['lineOf']>,
  context: WriteContext,
): Promise<boolean> {
  for await (const rows of stream) {
    const view = viewOf(context);
    for (const row of rows) if (!(await print(await lineOf(row, view), context.io))) return false;
  }
  return true;
}

function lineFormat(format: Format): Format {
  if (format.startsWith('json')) return 'jsonl';
  return format === 'csv' ? 'csv' : 'tsv';
}

/**
 * Protects a terminal from control characters in a document or in the output of `--jq` (tabs stay); pipes and files get the
 * exact content.
 */
const printable = (text: string, { io, filter }: WriteContext): string =>
  io.stdout.isTTY ? text.replaceAll(filter === null ? /[^\n]+/g : /[^\n\t]+/g, (words) => sanitise(words)) : text;

/** Names the file of a list; other commands say themselves what they have written. */
function writtenNote(result: WholeResult, { settings: { output }, destination }: WriteContext): Note[] {
  const isList = result.kind === 'rows' && result.beforeFile === undefined;
  if (!isList || destination === null || output === null) return [];
  return [{ tone: 'done', text: `wrote ${output} · ${count(result.rows.length, 'row')}` }];
}

const emptyNote = (result: WholeResult): Note[] =>
  result.kind === 'rows' && result.rows.length === 0 ? [{ tone: 'hint', text: result.empty }] : [];

function hiddenNote(hidden: ReadonlySet<string>): Note[] {
  if (hidden.size === 0) return [];
  const shows = `--json shows ${hidden.size === 1 ? 'it' : 'them'}`;
  return [{ tone: 'hint', text: `no room for ${[...hidden].join(', ')}; ${shows}` }];
}

/** How to get the response of a change whose output failed; empty for a read. */
function howToRepeat({ idempotencyKey, repeatHint }: CommandResult, { rerun }: WriteContext, whereTo: string): Repeat {
  if (repeatHint !== undefined) return { hints: [repeatHint] };
  if (idempotencyKey === undefined) return {};
  const hint = `The service did its part. This gets the same response again, ${whereTo}:`;
  return { hints: [hint, ['', rerun(idempotencyKey)]], idempotencyKey };
}
