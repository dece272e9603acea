import { parseDuration } from './values/duration.ts';
import { parseCount, parseSwitch, parseTimeout } from './values/scalars.ts';

export interface GlobalOption {
  readonly flags: string;
  readonly describe: string;
  readonly env?: string;
  readonly choices?: readonly string[];
  /** Reads the value of an option that a variable or `lkm config` may set too. */
  readonly parse?: (text: string) => unknown;
}

export const formats = ['table', 'tsv', 'csv', 'json', 'jsonl'] as const;

export type Format = (typeof formats)[number];

/** Reads the variable of a `--no-…` option. */
const parseOff = (text: string): boolean => !parseSwitch(text);

export const globalOptions = [
  { flags: '-p, --profile <NAME>', env: 'LKM_PROFILE', describe: 'use a stored account and host' },
  { flags: '--base-url <URL>', env: 'LKM_BASE_URL', describe: 'use a service at this address' },
  { flags: '--db <DB>', env: 'LKM_DB', describe: 'a file or postgres://…: use it in this process, no server' },
  { flags: '--create', describe: 'let --db make a database that is not there' },
  { flags: '--token-file <PATH>', env: 'LKM_TOKEN_FILE', describe: 'read the token from a file, - for stdin' },
  {
    flags: '--allow-readable-secrets',
    env: 'LKM_ALLOW_READABLE_SECRETS',
    parse: parseSwitch,
    describe: 'take tokens and keys from files that others can read, with a warning',
  },
  { flags: '--format <FMT>', env: 'LKM_FORMAT', choices: formats, describe: 'how the result is written' },
  { flags: '--json', describe: 'same as --format json' },
  { flags: '--jq <EXPR>', describe: 'print the results of this jq expression on the JSON; text is printed bare' },
  { flags: '--fields <LIST>', describe: 'only these fields, separated by commas' },
  { flags: '--sort <FIELD[:desc]>', describe: 'sort a list by this field' },
  {
    flags: '-o, --output <FILE>',
    describe: 'write the result to a file, - for stdout; as csv, tsv, json or jsonl if it is named so',
  },
  { flags: '--force', describe: 'let -o overwrite a file' },
  {
    flags: '-q, --quiet',
    env: 'LKM_QUIET',
    parse: parseSwitch,
    describe: 'print bare identifiers or --fields, and nothing on stderr',
  },
  { flags: '-v, --verbose', env: 'LKM_VERBOSE', parse: parseSwitch, describe: 'a line on stderr for every request' },
  {
    flags: '--debug',
    env: 'LKM_DEBUG',
    parse: parseSwitch,
    describe: 'all that is sent and received, but secrets; stack traces',
  },
  { flags: '--color <WHEN>', choices: ['auto', 'always', 'never'], describe: 'colours' },
  { flags: '--no-color', env: 'NO_COLOR', describe: 'same as --color never' },
  { flags: '--no-progress', env: 'LKM_NO_PROGRESS', parse: parseOff, describe: 'show nothing that moves' },
  {
    flags: '--accessible',
    env: 'LKM_ACCESSIBLE',
    parse: parseSwitch,
    describe: 'for screen readers: plain lines that stay, choices by number, on dumb terminals too',
  },
  { flags: '--no-input', env: 'LKM_NO_INPUT', parse: parseOff, describe: 'never ask' },
  {
    flags: '--timeout <DUR>',
    env: 'LKM_TIMEOUT',
    parse: parseTimeout,
    describe: 'longest wait for one attempt (30s)',
  },
  {
    flags: '--max-retries <N>',
    env: 'LKM_MAX_RETRIES',
    parse: parseCount,
    describe: 'attempts after the first, whatever failed (4; while the service is down, 30s of them)',
  },
  {
    flags: '--max-wait <DUR>',
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
