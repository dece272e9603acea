import type { Settings } from '../config/settings.ts';
import { type Hint, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { Destination } from './destination.ts';
import { createPaint } from './paint.ts';
import { render } from './render.ts';
import type { CommandResult, Field, Note } from './result.ts';
import type { TableText } from './table.ts';
import { talk } from './talk.ts';
import { sanitise } from './text.ts';

/** What the writer has to know beyond the result. */
export interface WriteContext {
  readonly settings: Settings;
  readonly io: Io;
  readonly fields: readonly Field[];
  readonly chosen: readonly Field[] | null;
  /** Of `-o`; null: stdout. */
  readonly destination: Destination | null;
  /** The command line that repeats the change. */
  rerun(idempotencyKey: string): string;
}

/**
 * Prints a result first, and after it what there is to say. Resolves to whether the result was taken: false when the
 * reader of stdout is gone. Throws `LocalError` when it cannot be written.
 */
export async function writeResult(result: CommandResult, context: WriteContext): Promise<boolean> {
  const { settings, io, destination } = context;
  const isDocument = result.kind === 'file' && destination !== null;
  const isIndented = isDocument || (destination === null && io.stdout.isTTY && result.afterwards === undefined);
  const { text, hidden } = await renderFor(result, context, isIndented);
  if (destination !== null) await writeTo(destination, isDocument ? result.content : text, result, context);
  const isPrinted = destination === null || (isDocument && settings.format.startsWith('json'));
  // A terminal would obey what is in a document; pipes and files get its exact content.
  const printable = result.kind === 'file' && io.stdout.isTTY ? visible(text) : text;
  const repeat = () => howToRepeat(result, context, 'where it can be written');
  const isTaken = !isPrinted || (await print(printable, io, repeat));
  await talk([...emptyNote(result), ...hiddenNote(hidden), ...(result.notes ?? [])], settings, io);
  return isTaken;
}

/** Writes to stdout; resolves to whether it was taken. Throws `LocalError` when it cannot be written. */
export async function print(text: string, io: Io, repeat: () => Repeat = () => ({})): Promise<boolean> {
  if (text === '') return true;
  try {
    return await io.stdout.write(text);
  } catch (error) {
    throw unwritable('to stdout', error, repeat());
  }
}

/** The error for a result that cannot be written. */
export const unwritable = (where: string, cause: unknown, { hints = [], idempotencyKey }: Repeat = {}): LocalError =>
  new LocalError(`cannot write ${where} (${codeOf(cause)})`, hints, { cause, idempotencyKey });

async function renderFor(result: CommandResult, context: WriteContext, indented: boolean): Promise<TableText> {
  const { settings, io, fields, chosen } = context;
  const paint = createPaint(settings.color.stdout && settings.output === null);
  const view = { columns: io.stdout.columns, now: io.now(), paint };
  return render(result, { format: settings.format, fields, chosen, quiet: settings.quiet, indented, view });
}

/** A document on a terminal: its lines cannot control the terminal. */
const visible = (text: string): string => text.split('\n').map(sanitise).join('\n');

const emptyNote = (result: CommandResult): Note[] =>
  result.kind === 'rows' && result.rows.length === 0 ? [{ tone: 'hint', text: result.empty }] : [];

function hiddenNote(hidden: readonly Field[]): Note[] {
  if (hidden.length === 0) return [];
  const names = hidden.map(({ name }) => name);
  return [{ tone: 'hint', text: `no room for ${names.join(', ')}; --fields id,${names.join(',')} shows them` }];
}

async function writeTo(
  destination: Destination,
  text: string,
  result: CommandResult,
  context: WriteContext,
): Promise<void> {
  try {
    await destination.write(text, { secret: result.secret ?? false });
  } catch (error) {
    throw unwritable(String(context.settings.output), error, howToRepeat(result, context, 'for another file'));
  }
}

/** How to get the response of a change that was made and could not be written; empty for a read. */
interface Repeat {
  readonly hints?: readonly Hint[];
  readonly idempotencyKey?: string;
}

function howToRepeat({ idempotencyKey }: CommandResult, { rerun }: WriteContext, whereTo: string): Repeat {
  if (idempotencyKey === undefined) return {};
  const hint = `The service did its part. This gets the same response again, ${whereTo}:`;
  return { hints: [hint, ['', rerun(idempotencyKey)]], idempotencyKey };
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
