import { UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io, Output } from '../io.ts';
import { type ServiceOptions, takesColor } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { parseDuration } from '../values/duration.ts';
import { parseCount } from '../values/scalars.ts';
import { hasPassword } from './location.ts';

export const formats = ['table', 'tsv', 'csv', 'json', 'jsonl', 'env'] as const;

export type Format = (typeof formats)[number];

/** What every command can be told: format, destination, verbosity, questions, time limits. */
export interface Settings {
  readonly format: Format;
  /** The format of a result in the file of `-o`: where none was chosen, the one that the file is named after. */
  readonly fileFormat: Format;
  /** Null: all of them. */
  readonly fields: readonly string[] | null;
  /** Null: stdout. */
  readonly output: string | null;
  readonly force: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly color: { readonly stdout: boolean; readonly stderr: boolean };
  /** Whether something that moves can be shown on stderr. */
  readonly draws: boolean;
  /** Whether a question can be answered. */
  readonly interactive: boolean;
  /** Why it cannot; null when it can. */
  readonly notInteractive: string | null;
  readonly timeoutMs: number | undefined;
  readonly maxRetries: number | undefined;
  readonly maxWaitMs: number | undefined;
  /** The options of this command line that say which service it talks to: a command that is suggested needs them too. */
  readonly serviceOptions: ServiceOptions;
}

/** Reads the settings: a flag goes before the environment, which goes before the default. Throws `UsageError`. */
export function readSettings(flags: GlobalFlags, io: Io): Settings {
  const { env } = io;
  const chosen = chooseFormat(flags, env);
  const output = flags.output === undefined || flags.output === '-' ? null : fileName(flags.output);
  const notInteractive = whyNotInteractive(flags, io, chosen ?? 'table');
  const format = chosen ?? (io.stdout.isTTY && output === null ? 'table' : 'tsv');
  const quiet = flags.quiet ?? readSwitch(env, 'LKM_QUIET');
  const verbose = flags.verbose ?? readSwitch(env, 'LKM_VERBOSE');
  const debug = flags.debug ?? readSwitch(env, 'LKM_DEBUG');
  // Lines of requests and a line that moves would write over each other.
  const isSilent = quiet || verbose || debug || format.startsWith('json');
  const isStill = flags.progress === false || readSwitch(env, 'LKM_NO_PROGRESS') || isSilent;
  return {
    format,
    fileFormat: chosen ?? namedAfter(output) ?? format,
    fields: flags.fields === undefined ? null : flags.fields.split(',').map((field) => field.trim()),
    output,
    force: flags.force ?? false,
    quiet,
    verbose,
    debug,
    color: { stdout: usesColor(flags, env, io.stdout), stderr: usesColor(flags, env, io.stderr) },
    draws: io.stderr.isTTY && env.TERM !== 'dumb' && !isStill,
    interactive: notInteractive === null,
    notInteractive,
    timeoutMs: parsed('--timeout', 'LKM_TIMEOUT', flags.timeout, env, parseTimeout),
    maxRetries: parsed('--max-retries', 'LKM_MAX_RETRIES', flags.maxRetries, env, parseCount),
    maxWaitMs: parsed('--max-wait', 'LKM_MAX_WAIT', flags.maxWait, env, parseDuration),
    serviceOptions: serviceOptions(flags),
  };
}

/** None where one of them holds a secret, which is shown nowhere. A query or user name is not part of a base URL. */
function serviceOptions({ profile, baseUrl, db, tokenFile }: GlobalFlags): ServiceOptions {
  if (/[@?#]/.test(baseUrl ?? '') || hasPassword(db ?? '')) return [];
  const given = { '--profile': profile, '--base-url': baseUrl, '--db': db, '--token-file': tokenFile };
  return Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, quote(value)] as const]));
}

/** After `-o`, other commands take a format; nobody wants a file called `json`. Throws `UsageError`. */
function fileName(output: string): string {
  const word = output.replace(/^=/, '');
  const format = formats.find((one) => one === word);
  if (format === undefined && !['yaml', 'wide', 'ndjson'].includes(word)) return output;
  throw new UsageError(`-o takes a file, and ${word} is a format`, [
    `Give a format as --format ${format ?? formats.join(', ')}.`,
    `For a file of that name: -o ./${word}`,
  ]);
}

const namedAfter = (output: string | null): Format | undefined =>
  (['csv', 'tsv', 'json', 'jsonl'] as const).find((format) => output?.toLowerCase().endsWith(`.${format}`));

function whyNotInteractive(flags: GlobalFlags, io: Io, format: Format): string | null {
  const { env, stderr } = io;
  if (readSwitch(env, 'LKM_NO_INPUT')) return 'LKM_NO_INPUT is set';
  if (flags.input === false) return '--no-input is given';
  if (isCi(env)) return 'CI is set';
  if (format !== 'table') return `the format is ${format}`;
  if (env.TERM === 'dumb') return 'TERM is dumb';
  // stdin last, and not before it is needed: to find out whether it is a terminal takes long.
  if (!stderr.isTTY) return 'stderr is not a terminal';
  return io.stdin.isTTY ? null : 'stdin is not a terminal';
}

function chooseFormat(flags: GlobalFlags, env: Io['env']): Format | undefined {
  if (flags.json) {
    if (flags.format && flags.format !== 'json') throw new UsageError('--json and --format disagree; give one of them');
    return 'json';
  }
  const from = flags.format === undefined ? 'LKM_FORMAT' : '--format';
  const written = flags.format ?? env.LKM_FORMAT;
  if (!written) return undefined;
  const format = formats.find((one) => one === written);
  if (!format) throw new UsageError(`${from} is one of ${formats.join(', ')}, not '${written}'`);
  return format;
}

const on = ['1', 'true', 'yes', 'on'];
const off = ['0', 'false', 'no', 'off', ''];

/** A switch in the environment; throws `UsageError` for a value that is neither on nor off, such as a typo. */
export const readSwitch = (env: Io['env'], name: string): boolean => parseSwitch(env[name] ?? '', name);

/** The value of a switch; `name` is what an error calls it. Throws `UsageError` as `readSwitch` does. */
export function parseSwitch(text: string, name: string): boolean {
  const value = text.toLowerCase();
  if (on.includes(value)) return true;
  if (off.includes(value)) return false;
  throw new UsageError(`${name} is a switch: ${on.join(', ')} or ${off.slice(0, -1).join(', ')}, not '${value}'`);
}

/** Build machines set `CI` to `true` or to their own name, so any value counts that is not an off word. */
const isCi = (env: Io['env']): boolean => !off.includes((env.CI ?? '').toLowerCase());

function usesColor(flags: GlobalFlags, env: Io['env'], output: Output): boolean {
  const { color } = flags;
  if (color === false || color === 'never') return false;
  if (color === 'always') return true;
  if (typeof color === 'string' && color !== 'auto') {
    throw new UsageError(`--color is one of auto, always, never, not '${color}'`);
  }
  return takesColor(env, output);
}

/** How long one attempt may take, in milliseconds: with no time at all, none would succeed. Throws `UsageError`. */
export function parseTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms <= 0) throw new UsageError(`'${text}' is no time to wait: give 1s or more`);
  return ms;
}

function parsed(
  flag: string,
  variable: string,
  given: string | undefined,
  env: Io['env'],
  parse: (text: string) => number,
): number | undefined {
  const text = given ?? env[variable];
  if (text === undefined || text === '') return undefined;
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${given === undefined ? variable : flag}: ${error.message}`, error.hints, { cause: error });
  }
}
