import type { Settings } from '../config/settings.ts';
import { type Hint, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { writeAtomically } from './file.ts';
import { createPaint } from './paint.ts';
import { render } from './render.ts';
import type { CommandResult, Field } from './result.ts';
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

/** Prints an outcome: the answer first, what there is to say after it. */
export async function writeResult(outcome: CommandResult, context: WriteContext): Promise<void> {
  const { settings, io } = context;
  const { output } = settings;
  if (output !== null && outcome.kind === 'file') {
    await writeFile(output, outcome.content, outcome, context);
    if (settings.format.startsWith('json')) await io.stdout.write(await renderFor(outcome, context, true));
  } else if (output !== null) {
    await writeFile(output, await renderFor(outcome, context, false), outcome, context);
  } else {
    await io.stdout.write(await renderFor(outcome, context, io.stdout.isTTY && outcome.afterwards === undefined));
  }
  await talk([...emptyNote(outcome), ...(outcome.notes ?? [])], settings, io);
}

async function renderFor(outcome: CommandResult, context: WriteContext, indented: boolean): Promise<string> {
  const { settings, io, fields, chosen } = context;
  const paint = await createPaint(settings.color.stdout && settings.output === null);
  const view = { columns: io.stdout.columns, now: io.now(), paint };
  return render(outcome, { format: settings.format, fields, chosen, quiet: settings.quiet, indented, view });
}

const emptyNote = (outcome: CommandResult) =>
  outcome.kind === 'rows' && outcome.rows.length === 0 ? [{ tone: 'hint', text: outcome.empty } as const] : [];

async function writeFile(
  path: string,
  text: string,
  outcome: CommandResult,
  { io, rerun }: WriteContext,
): Promise<void> {
  try {
    writeAtomically(path, text, outcome.secret ? 0o600 : 0o644, io);
  } catch (error) {
    const { idempotencyKey } = outcome;
    const again: Hint[] =
      idempotencyKey === undefined
        ? []
        : ['The service did its part. Ask for the same answer again, into another file:', ['', rerun(idempotencyKey)]];
    const code = (error as NodeJS.ErrnoException).code;
    throw new LocalError(`cannot write ${path} (${code})`, again, { cause: error });
  }
}
