import { type Hint, UsageError } from '../failure/errors.ts';
import { type Format, formats, type GlobalFlags } from '../global-options.ts';
import type { Io, Output } from '../io.ts';
import { type ServiceOptions, takesColor } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { offWords } from '../values/scalars.ts';
import { hasPassword } from './location.ts';

/** Reads a text; a `UsageError` then begins with the place of the text and gets these hints. */
export function checkedAs<T>(where: string, read: () => T, hints: readonly Hint[] = []): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${where}: ${error.message}`, [...error.hints, ...hints], { cause: error });
  }
}

/** The settings of all commands, from the global options. */
export type Settings = Readonly<ReturnType<typeof readSettings>>;

/** Throws `UsageError` for options that contradict each other. */
export function readSettings(flags: GlobalFlags, io: Io) {
  const { env } = io;
  const { quiet = false, verbose = false, debug = false, accessible = false } = flags;
  const chosen = chosenFormat(flags);
  const output = flags.output === undefined || flags.output === '-' ? null : fileName(flags.output);
  const notInteractive = whyNotInteractive(flags, io, chosen ?? 'table');
  const format: Format = chosen ?? (io.stdout.isTTY && output === null ? 'table' : 'tsv');
  // Lines about requests and a moving line would overwrite each other.
  const isSilent = quiet || verbose || debug || format.startsWith('json');
  const isStill = accessible || flags.progress === false || isSilent;
  return {
    format,
    /** The format of the file of `-o`; the default follows from the ending of the file's name. */
    fileFormat: chosen ?? formatNamedBy(output) ?? format,
    /** Whether a record is printed as lines of `name<TAB>value`: in a pipe, unless a format was chosen. */
    hasNamedLines: chosen === undefined && formatNamedBy(output) === undefined && format === 'tsv',
    fields: flags.fields === undefined ? null : flags.fields.split(',').map((field) => field.trim()),
    sort: flags.sort ?? null,
    jq: flags.jq ?? null,
    output,
    force: flags.force ?? false,
    quiet,
    verbose,
    debug,
    color: { stdout: usesColor(flags, env, io.stdout), stderr: usesColor(flags, env, io.stderr) },
    /** Whether output consists of lines that stay, for screen readers and dumb terminals. */
    accessible,
    /** Whether stderr may show something that moves. */
    draws: io.stderr.isTTY && env.TERM !== 'dumb' && !isStill,
    interactive: notInteractive === null,
    notInteractive,
    timeoutMs: flags.timeout,
    maxRetries: flags.maxRetries,
    maxWaitMs: flags.maxWait,
    /** The options that name the service: suggested command lines need them too. */
    serviceOptions: serviceOptions(flags),
  };
}

function chosenFormat({ format, json, jq }: GlobalFlags): Format | undefined {
  if (json && format !== 'json') throw new UsageError('--json and --format disagree; give one of them');
  if (jq !== undefined && format && !format.startsWith('json')) {
    throw new UsageError(`--jq filters JSON, and --format ${format} asks for something else`);
  }
  return format;
}

/** Empty if an option contains a secret. A base URL has no query and no user name. */
function serviceOptions({ profile, baseUrl, db, tokenFile }: GlobalFlags): ServiceOptions {
  if (/[@?#]/.test(baseUrl ?? '') || hasPassword(db ?? '')) return [];
  const given = { '--profile': profile, '--base-url': baseUrl, '--db': db, '--token-file': tokenFile };
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, quote(value)] as const]));
}

/** Other tools take a format after `-o`; nobody wants a file called `json`. Throws `UsageError`. */
function fileName(output: string): string {
  const word = output.replace(/^=/, '');
  if (![...formats, 'yaml', 'wide'].includes(word)) return output;
  throw new UsageError(`-o takes a file, and ${word} is a format`, [
    `Give a format as --format ${formats.find((one) => one === word) ?? formats.join(', ')}.`,
    `For a file of that name: -o ./${word}`,
  ]);
}

const formatNamedBy = (output: string | null): Format | undefined =>
  (['csv', 'tsv', 'json', 'jsonl'] as const).find((format) => output?.toLowerCase().endsWith(`.${format}`));

function whyNotInteractive(flags: GlobalFlags, io: Io, format: Format): string | null {
  const { env, stderr } = io;
  if (flags.input === false) return env.LKM_NO_INPUT ? 'LKM_NO_INPUT is set' : '--no-input is given';
  if (isCi(env)) return 'CI is set';
  if (format !== 'table') return `the format is ${format}`;
  if (env.TERM === 'dumb' && !flags.accessible) return 'TERM is dumb';
  // stdin last: finding out whether it is a terminal takes long.
  if (!stderr.isTTY) return 'stderr is not a terminal';
  return io.stdin.isTTY ? null : 'stdin is not a terminal';
}

/** Build machines set `CI` to `true` or to their own name; any value counts that does not mean off. */
const isCi = (env: Io['env']): boolean => !offWords.includes((env.CI ?? '').toLowerCase());

function usesColor({ color }: GlobalFlags, env: Io['env'], output: Output): boolean {
  if (color === false || color === 'never') return false;
  return color === 'always' || takesColor(env, output);
}
