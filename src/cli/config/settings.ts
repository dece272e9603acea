import { type Hint, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io, Output } from '../io.ts';
import { type ServiceOptions, takesColor } from '../output/terminal.ts';
import { quote } from '../output/words.ts';
import { parseDuration } from '../values/duration.ts';
import { parseCount } from '../values/scalars.ts';
import { hasPassword } from './location.ts';

export const formats = ['table', 'tsv', 'csv', 'json', 'jsonl'] as const;

export type Format = (typeof formats)[number];

/** The options that commands take from the environment too: the variable of each, what it is, and what reads its text. */
export const optionTexts = {
  format: { env: 'LKM_FORMAT', about: formats.join(', '), parse: parseFormat },
  timeout: { env: 'LKM_TIMEOUT', about: 'longest wait for one attempt', parse: parseTimeout },
  'max-retries': { env: 'LKM_MAX_RETRIES', about: 'attempts after the first', parse: parseCount },
  'max-wait': { env: 'LKM_MAX_WAIT', about: 'longest wait on one 429 or 409', parse: parseDuration },
  quiet: { env: 'LKM_QUIET', about: 'print bare identifiers: on or off', parse: parseSwitch },
  'no-progress': { env: 'LKM_NO_PROGRESS', about: 'show nothing that moves: on or off', parse: parseSwitch },
  accessible: { env: 'LKM_ACCESSIBLE', about: 'ask and report in plain lines: on or off', parse: parseSwitch },
  'no-input': { env: 'LKM_NO_INPUT', about: 'never ask: on or off', parse: parseSwitch },
} as const;

function parseFormat(text: string): Format {
  const format = formats.find((one) => one === text);
  if (format !== undefined) return format;
  throw new UsageError(`'${text}' is not one of ${formats.join(', ')}`);
}

/** In milliseconds: with no time at all, no attempt would succeed. */
function parseTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms <= 0) throw new UsageError(`'${text}' is no time to wait: give 1s or more`);
  return ms;
}

const on = ['1', 'true', 'yes', 'on'];
const off = ['0', 'false', 'no', 'off', ''];

function parseSwitch(text: string): boolean {
  const value = text.toLowerCase();
  if (on.includes(value) || off.includes(value)) return on.includes(value);
  throw new UsageError(`'${text}' is not one of ${on.join(', ')} or ${off.slice(0, -1).join(', ')}`);
}

export const readSwitch = (env: Io['env'], name: string): boolean =>
  checkedAs(name, () => parseSwitch(env[name] ?? ''));

function settingValue<N extends keyof typeof optionTexts>(name: N, given: string | undefined, env: Io['env']) {
  type Value = ReturnType<(typeof optionTexts)[N]['parse']>;
  const { env: variable, parse } = optionTexts[name];
  const text = given ?? env[variable];
  return text ? (checkedAs(given === undefined ? variable : `--${name}`, () => parse(text)) as Value) : undefined;
}

/** Reads a text; a `UsageError` then begins with where that stands, and has these hints too. */
export function checkedAs<T>(where: string, read: () => T, hints: readonly Hint[] = []): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${where}: ${error.message}`, [...error.hints, ...hints], { cause: error });
  }
}

/** What every command can be told: format, destination, verbosity, questions, time limits. */
export type Settings = Readonly<ReturnType<typeof readSettings>>;

/** Reads the settings: a flag goes before the environment, which goes before the default. Throws `UsageError`. */
export function readSettings(flags: GlobalFlags, io: Io) {
  const { env } = io;
  if (flags.json && flags.format && flags.format !== 'json') {
    throw new UsageError('--json and --format disagree; give one of them');
  }
  if (flags.jq !== undefined && flags.format && !flags.format.startsWith('json')) {
    throw new UsageError(`--jq filters JSON, and --format ${flags.format} asks for something else`);
  }
  const isJson = flags.json || (flags.jq !== undefined && !flags.format);
  const chosen = settingValue('format', isJson ? 'json' : flags.format, env);
  const output = flags.output === undefined || flags.output === '-' ? null : fileName(flags.output);
  const notInteractive = whyNotInteractive(flags, io, chosen ?? 'table');
  const format: Format = chosen ?? (io.stdout.isTTY && output === null ? 'table' : 'tsv');
  const quiet = flags.quiet ?? readSwitch(env, 'LKM_QUIET');
  const verbose = flags.verbose ?? readSwitch(env, 'LKM_VERBOSE');
  const debug = flags.debug ?? readSwitch(env, 'LKM_DEBUG');
  // Lines of requests and a line that moves would write over each other.
  const isSilent = quiet || verbose || debug || format.startsWith('json');
  const accessible = readSwitch(env, 'LKM_ACCESSIBLE');
  const isStill = accessible || flags.progress === false || readSwitch(env, 'LKM_NO_PROGRESS') || isSilent;
  return {
    format,
    /** The format of a result in the file of `-o`: where none was chosen, the one that the file is named after. */
    fileFormat: chosen ?? formatNamedBy(output) ?? format,
    fields: flags.fields === undefined ? null : flags.fields.split(',').map((field) => field.trim()),
    /** The expression of jq that filters the JSON. */
    jq: flags.jq ?? null,
    output,
    force: flags.force ?? false,
    quiet,
    verbose,
    debug,
    color: { stdout: usesColor(flags, env, io.stdout), stderr: usesColor(flags, env, io.stderr) },
    /** Whether everything on a terminal is a line that stays, as a screen reader and a dumb terminal need it. */
    accessible,
    /** Whether something that moves can be shown on stderr. */
    draws: io.stderr.isTTY && env.TERM !== 'dumb' && !isStill,
    interactive: notInteractive === null,
    notInteractive,
    timeoutMs: settingValue('timeout', flags.timeout, env),
    maxRetries: settingValue('max-retries', flags.maxRetries, env),
    maxWaitMs: settingValue('max-wait', flags.maxWait, env),
    /** Those that say which service this command talks to: a command that is suggested needs them too. */
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
  if (readSwitch(env, 'LKM_NO_INPUT')) return 'LKM_NO_INPUT is set';
  if (flags.input === false) return '--no-input is given';
  if (isCi(env)) return 'CI is set';
  if (format !== 'table') return `the format is ${format}`;
  if (env.TERM === 'dumb' && !readSwitch(env, 'LKM_ACCESSIBLE')) return 'TERM is dumb';
  // stdin last, and not before it is needed: to find out whether it is a terminal takes long.
  if (!stderr.isTTY) return 'stderr is not a terminal';
  return io.stdin.isTTY ? null : 'stdin is not a terminal';
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
