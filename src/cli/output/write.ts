import type { Settings } from '../config/settings.ts';
import { type Hint, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { writeAtomically } from './file.ts';
import { createPaint } from './paint.ts';
import { render } from './render.ts';
import type { CommandResult, Field } from './result.ts';
import { sanitiseLines } from './sanitise.ts';
import { talk } from './talk.ts';

/** What the writer has to know beyond the outcome. */
export interface WriteContext {
  readonly settings: Settings;
  readonly io: Io;
  readonly fields: readonly Field[];
  readonly chosen: readonly Field[] | null;
  /** The command line that repeats the change. */
  rerun(idempotencyKey: string): string;
}

/**
 * Prints an outcome: the answer first, what there is to say after it. Resolves to whether the answer was taken: false
 * when the reader of stdout is gone. Throws `LocalError` when it cannot be written.
 */
export async function writeResult(outcome: CommandResult, context: WriteContext): Promise<boolean> {
  const { settings, io } = context;
  const { output } = settings;
  const repeat = (whereTo: string) => howToRepeat(outcome, context, whereTo);
  const isFile = outcome.kind === 'file' && output !== null;
  if (output !== null) {
    const text = isFile ? outcome.content : await renderFor(outcome, context, false);
    writeFile(output, text, { mode: outcome.secret ? 0o600 : 0o644, io, repeat: () => repeat('into another file') });
  }
  /** The exact content of a document goes into pipes and files; a terminal would obey what is in it. */
  const printable = async (): Promise<string> => {
    const text = await renderFor(outcome, context, isIndented);
    return outcome.kind === 'file' && io.stdout.isTTY ? sanitiseLines(text) : text;
  };
  const isPrinted = output === null || (isFile && settings.format.startsWith('json'));
  const isIndented = isFile || (io.stdout.isTTY && outcome.afterwards === undefined);
  const isTaken = !isPrinted || (await print(await printable(), io, () => repeat('where it can be written')));
  await talk([...emptyNote(outcome), ...(outcome.notes ?? [])], settings, io);
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

/** The error for an answer that has nowhere to go. */
export const unwritable = (where: string, cause: unknown, { hints = [], idempotencyKey }: Repeat = {}): LocalError =>
  new LocalError(`cannot write ${where} (${codeOf(cause)})`, hints, { cause, idempotencyKey });

async function renderFor(outcome: CommandResult, context: WriteContext, indented: boolean): Promise<string> {
  const { settings, io, fields, chosen } = context;
  const paint = await createPaint(settings.color.stdout && settings.output === null);
  const view = { columns: io.stdout.columns, now: io.now(), paint };
  return render(outcome, { format: settings.format, fields, chosen, quiet: settings.quiet, indented, view });
}

const emptyNote = (outcome: CommandResult) =>
  outcome.kind === 'rows' && outcome.rows.length === 0 ? [{ tone: 'hint', text: outcome.empty } as const] : [];

function writeFile(
  path: string,
  text: string,
  { mode, io, repeat }: { readonly mode: number; readonly io: Io; repeat(): Repeat },
): void {
  try {
    writeAtomically(path, text, mode, io);
  } catch (error) {
    throw unwritable(path, error, repeat());
  }
}

/** How to get the answer of a change that was made, where it could not be handed over; empty for a read. */
interface Repeat {
  readonly hints?: readonly Hint[];
  readonly idempotencyKey?: string;
}

function howToRepeat({ idempotencyKey }: CommandResult, { rerun }: WriteContext, whereTo: string): Repeat {
  if (idempotencyKey === undefined) return {};
  const hint = `The service did its part. Ask for the same answer again, ${whereTo}:`;
  return { hints: [hint, ['', rerun(idempotencyKey)]], idempotencyKey };
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
