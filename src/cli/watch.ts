import { setTimeout as sleep } from 'node:timers/promises';
import type { ParsedCommand } from './command.ts';
import type { Settings } from './config/settings.ts';
import { openContext } from './context.ts';
import { exitCodes, UsageError } from './failure/errors.ts';
import type { RunState } from './failure/fail.ts';
import { toReport } from './failure/report.ts';
import type { Io } from './io.ts';
import { renderResult } from './output/render.ts';
import type { CommandResult, Field } from './output/result.ts';
import { createPaint, sanitise } from './output/terminal.ts';
import { inProcessUrl } from './request/connection.ts';

interface Watched {
  readonly parsed: ParsedCommand;
  readonly values: Readonly<Record<string, unknown>>;
  readonly settings: Settings;
  readonly chosen: readonly Field[] | null;
  readonly state: RunState;
}

const INTERVAL_MS = 2_000;

/** A screen of its own, without a cursor, on which long lines are cut: what was on the terminal stays as it is. */
const OPEN = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const CLOSE = '\u001b[?7h\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/**
 * Shows the result of a read on the terminal until a signal ends it: with 0. It is drawn in place; in the accessible mode
 * it is printed below, whenever it has changed. An error of the first read ends it too; later ones are shown when they may
 * pass.
 */
export async function watch(watched: Watched): Promise<number> {
  const { settings, state } = watched;
  const { io } = state;
  refuseElsewhere(settings, io);
  const { accessible } = settings;
  let shown = await readOnce(watched);
  let printed: string | null = null;
  if (!accessible) await io.stdout.write(OPEN);
  try {
    let trouble: string | null = null;
    while (!io.stop.aborted) {
      const seen = `${trouble}\n${shown}`;
      if (!accessible || seen !== printed) await io.stdout.write(frameOf(shown, trouble, watched));
      printed = seen;
      await sleep(INTERVAL_MS, undefined, { signal: io.stop }).catch(() => {});
      if (io.stop.aborted) break;
      ({ shown, trouble } = await readOnce(watched).then(
        (next) => ({ shown: next, trouble: null }),
        (error: unknown) => ({ shown, trouble: troubleOf(error, io) }),
      ));
    }
  } finally {
    if (!accessible) await io.stdout.write(CLOSE);
  }
  if (!accessible) await io.stdout.write(shown);
  return exitCodes.ok;
}

function refuseElsewhere({ format, output, quiet, accessible }: Settings, { stdout, env }: Io): void {
  const isElsewhere = output !== null || quiet || format !== 'table';
  const isDumb = env.TERM === 'dumb' && !accessible;
  if (stdout.isTTY && !isDumb && !isElsewhere) return;
  const onTerminal = isDumb ? 'TERM is dumb' : 'another output was chosen';
  const why = stdout.isTTY ? onTerminal : 'stdout is not one';
  throw new UsageError(`--watch needs a terminal, and ${why}`, [
    ['What happens, line by line:', 'lkm events tail --json'],
  ]);
}

/** Runs the command once; resolves to what a terminal shows of it. */
async function readOnce({ parsed, values, settings, chosen, state }: Watched): Promise<string> {
  const { io } = state;
  const context = state.context ?? openContext({ flags: parsed.globals, settings, options: {}, io });
  state.context = context;
  try {
    const result = await parsed.command.run(values, context);
    if (result.kind === 'stream' || result.kind === 'chunks') {
      throw new Error(`${parsed.command.path} is watchable, and its result comes in parts`);
    }
    const text = await renderResult(result, { settings, io, fields: parsed.command.fields ?? [], chosen });
    return text + notesBelow(result, settings);
  } finally {
    // Others may open the file in between, and change what is shown.
    if (context.connection?.baseUrl === inProcessUrl) {
      delete state.context;
      await context.close();
    }
  }
}

function notesBelow(result: CommandResult, { color }: Settings): string {
  const empty = result.kind === 'rows' && result.rows.length === 0 ? [result.empty] : [];
  const lines = [...empty, ...(result.notes ?? []).map(({ text }) => text)].flatMap((text) => text.split('\n'));
  const paint = createPaint(color.stdout);
  return lines.map((line) => `${paint.dim(sanitise(line))}\n`).join('');
}

/** What went wrong, for the line above. Throws what cannot pass by itself. */
function troubleOf(error: unknown, io: Io): string | null {
  if (io.stop.aborted) return null;
  const { retryable, message } = toReport(error, { baseUrl: null, tokenFrom: null, now: io.now(), rerun: () => '' });
  if (!retryable) throw error;
  return message;
}

function frameOf(text: string, trouble: string | null, { settings, state: { io } }: Watched): string {
  const paint = createPaint(settings.color.stdout);
  const time = new Date(io.now()).toISOString().slice(11, 19);
  const head =
    trouble === null
      ? paint.dim(`${time} UTC, every ${INTERVAL_MS / 1_000} s · ctrl-c ends`)
      : paint.yellow(`${time} UTC: ${sanitise(trouble)}`);
  if (settings.accessible) return `${head}\n${text}`;
  const lines = [head, '', ...fitting(text.trimEnd().split('\n'), (io.stdout.lines ?? 24) - 2)];
  return `${HOME}${lines.map((line) => `${line}${CLEAR_LINE}`).join('\n')}${CLEAR_BELOW}`;
}

const fitting = (lines: readonly string[], room: number): readonly string[] =>
  lines.length <= room ? lines : [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`];
