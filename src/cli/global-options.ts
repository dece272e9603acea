import { parseDuration } from './values/duration.ts';
import { parseChoice, parseCount, parseSwitch, parseTimeout } from './values/scalars.ts';

export interface GlobalOption {
  readonly usage: string;
  readonly describe: string;
  readonly env?: string;
  readonly choices?: readonly string[];
  /** Reads the value of an option that a variable or `lkm config` may set too. */
  readonly parse?: (text: string) => unknown;
}

/** Reads the value of an option; undefined for an option whose text is not checked. */
export const readerOf = ({ parse, choices }: Pick<GlobalOption, 'parse' | 'choices'>) =>
  parse ?? (choices && ((text: string) => parseChoice(text, choices)));

export const formats = ['table', 'tsv', 'csv', 'json', 'jsonl'] as const;

export type Format = (typeof formats)[number];

/** Reads the variable of a `--no-…` option. */
const parseOff = (text: string): boolean => !parseSwitch(text);

export const globalOptions = [
  { usage: '-p, --profile <NAME>', env: 'LKM_PROFILE', describe: 'use a stored account and host' },
  { usage: '--base-url <URL>', env: 'LKM_BASE_URL', describe: 'use a service at this address' },
  { usage: '--db <DB>', env: 'LKM_DB', describe: 'a file or postgres://…: use it in this process, no server' },
  { usage: '--create', describe: 'let --db make a database that is not there' },
  { usage: '--token-file <PATH>', env: 'LKM_TOKEN_FILE', describe: 'read the token from a file, - for stdin' },
  {
    usage: '--allow-readable-secrets',
    env: 'LKM_ALLOW_READABLE_SECRETS',
    parse: parseSwitch,
    describe: 'take tokens and keys from files that others can read, with a warning',
  },
  { usage: '--format <FMT>', env: 'LKM_FORMAT', choices: formats, describe: 'how the result is written' },
  { usage: '--json', describe: 'same as --format json' },
  { usage: '--jq <EXPR>', describe: 'print the results of this jq expression on the JSON; text is printed bare' },
  { usage: '--fields <LIST>', describe: 'only these fields, separated by commas' },
  { usage: '--sort <FIELD[:desc]>', describe: 'sort a list by this field' },
  {
    usage: '-o, --output <FILE>',
    describe: 'write the result to a file, - for stdout; as csv, tsv, json or jsonl if it is named so',
  },
  { usage: '--force', describe: 'let -o overwrite a file' },
  {
    usage: '-q, --quiet',
    env: 'LKM_QUIET',
    parse: parseSwitch,
    describe: 'print bare identifiers or --fields, and nothing on stderr',
  },
  { usage: '-v, --verbose', env: 'LKM_VERBOSE', parse: parseSwitch, describe: 'a line on stderr for every request' },
  {
    usage: '--debug',
    env: 'LKM_DEBUG',
    parse: parseSwitch,
    describe: 'all that is sent and received, but secrets; stack traces',
  },
  { usage: '--color <WHEN>', choices: ['auto', 'always', 'never'], describe: 'colours' },
  { usage: '--no-color', env: 'NO_COLOR', describe: 'same as --color never' },
  { usage: '--no-progress', env: 'LKM_NO_PROGRESS', parse: parseOff, describe: 'show nothing that moves' },
  {
    usage: '--accessible',
    env: 'LKM_ACCESSIBLE',
    parse: parseSwitch,
    describe: 'for screen readers: plain lines that stay, choices by number, on dumb terminals too',
  },
  { usage: '--no-input', env: 'LKM_NO_INPUT', parse: parseOff, describe: 'never ask' },
  {
    usage: '--timeout <DUR>',
    env: 'LKM_TIMEOUT',
    parse: parseTimeout,
    describe: 'longest wait for one attempt (30s)',
  },
  {
    usage: '--max-retries <N>',
    env: 'LKM_MAX_RETRIES',
    parse: parseCount,
    describe:
      'attempts after the first, whatever failed (4; while the service is down, 30s of them; for 429, --max-wait)',
  },
  {
    usage: '--max-wait <DUR>',
    env: 'LKM_MAX_WAIT',
    parse: parseDuration,
    describe: 'longest wait for one 429 or 503, and for all 409 together (60s)',
  },
] as const satisfies readonly GlobalOption[];

type Texts = 'profile' | 'baseUrl' | 'db' | 'tokenFile' | 'jq' | 'fields' | 'sort' | 'output';
type Switches =
  | 'accessible'
  | 'allowReadableSecrets'
  | 'create'
  | 'json'
  | 'force'
  | 'quiet'
  | 'verbose'
  | 'debug'
  | 'progress'
  | 'input';

/** The global options from the command line, the environment and the configuration; `false` is the `--no-` form. */
export type GlobalFlags = Readonly<
  Partial<
    Record<Texts, string | undefined> &
      Record<Switches, boolean> &
      Record<'timeout' | 'maxRetries' | 'maxWait', number> & { format: Format; color: string | false }
  >
>;
