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

/** Prints a result first, and after it what there is to say. */
export async function writeResult(result: CommandResult, context: WriteContext): Promise<void> {
  const { settings, io, destination } = context;
  const isDocument = result.kind === 'file' && destination !== null;
  const isIndented = isDocument || (destination === null && io.stdout.isTTY && result.afterwards === undefined);
  const { text, hidden } = await renderFor(result, context, isIndented);
  if (destination === null) {
    await io.stdout.write(result.kind === 'file' && io.stdout.isTTY ? visible(text) : text);
  } else {
    await writeTo(destination, isDocument ? result.content : text, result, context);
    if (isDocument && settings.format.startsWith('json')) await io.stdout.write(text);
  }
  await talk([...emptyNote(result), ...hiddenNote(hidden), ...(result.notes ?? [])], settings, io);
}

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
  { settings, rerun }: WriteContext,
): Promise<void> {
  try {
    await destination.write(text, { secret: result.secret ?? false });
  } catch (cause) {
    const { idempotencyKey } = result;
    const again: Hint[] =
      idempotencyKey === undefined
        ? []
        : [
            'The service did its part. This gets the same response again, for another file:',
            ['', rerun(idempotencyKey)],
          ];
    const { code } = cause as NodeJS.ErrnoException;
    throw new LocalError(`cannot write ${settings.output} (${code})`, again, { cause });
  }
}
