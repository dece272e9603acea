import type { InputError, InputIssue } from '../../client/errors.ts';

/** Scripts rely on these values. */
export const exitCodes = {
  ok: 0,
  internal: 1,
  usage: 2,
  notConfirmed: 3,
  unauthenticated: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  outcomeUnknown: 8,
  rateLimited: 9,
  serverError: 10,
  network: 11,
  partial: 12,
  local: 13,
  interrupted: 130,
  terminated: 143,
} as const;

/** Exit codes of a successful command whose result is negative. Scripts rely on the values; errors use them too. */
export const verdictExitCodes = {
  /** A broken record, differing keys, a device that may not use a key. */
  negative: exitCodes.internal,
  /** A licence file, token or ping that is not accepted. */
  notAccepted: exitCodes.forbidden,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A line of advice: a sentence, or a label with a command. */
export type Hint = string | readonly [label: string, command: string];

export const hintText = (hint: Hint): string => (typeof hint === 'string' ? hint : hint.filter(Boolean).join(' '));

/** An object that an unclear name may mean: its id, then its name and its other name. */
export type NearObject = readonly [id: string, ...known: string[]];

interface ErrorInfo extends ErrorOptions {
  readonly idempotencyKey?: string | undefined;
  readonly near?: readonly NearObject[];
}

export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  /** Stable name in the JSON output. */
  readonly code: string;
  readonly exitCode: ExitCode;
  readonly hints: readonly Hint[];
  /** The idempotency key of a change that was made, but whose response could not be written. */
  readonly idempotencyKey: string | null;
  /** The objects that an unclear name may mean. */
  readonly near: readonly NearObject[];

  constructor(code: string, exitCode: ExitCode, message: string, hints: readonly Hint[], options: ErrorInfo = {}) {
    super(message, options);
    this.idempotencyKey = options.idempotencyKey ?? null;
    this.near = options.near ?? [];
    this.code = code;
    this.exitCode = exitCode;
    this.hints = hints;
  }
}

function errorOf(name: string, code: string, exitCode: ExitCode) {
  return class extends CommandError {
    override readonly name = name;

    constructor(message: string, hints: readonly Hint[] = [], options?: ErrorInfo) {
      super(code, exitCode, message, hints, options);
    }
  };
}

/** Wrong command line or environment; nothing was sent. */
export class UsageError extends errorOf('UsageError', 'usage', exitCodes.usage) {}

export class NotConfirmedError extends errorOf('NotConfirmedError', 'not_confirmed', exitCodes.notConfirmed) {}

export class NoTokenError extends errorOf('NoTokenError', 'no_token', exitCodes.unauthenticated) {}

export class NotFoundError extends errorOf('NotFoundError', 'not_found', exitCodes.notFound) {}

/** A problem on this machine, such as a file that exists or a damaged configuration. */
export class LocalError extends errorOf('LocalError', 'local', exitCodes.local) {}

/** Ctrl-C or SIGTERM. */
export class InterruptedError extends CommandError {
  override readonly name = 'InterruptedError';

  constructor(signal: 'SIGINT' | 'SIGTERM', hints: readonly Hint[] = []) {
    const exitCode = signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted;
    super('interrupted', exitCode, 'interrupted', hints);
  }
}

/** The code of a system error, such as `ENOENT`; otherwise its message. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}

/** Plain words for the usual errors of files. */
const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: ': no such file or folder',
  EISDIR: ': it is a folder',
  EACCES: ': that is not allowed',
};

/** The end of a sentence about a file that could not be used: `: it is a folder (EISDIR)`. */
export const fileError = (cause: unknown): string => `${fileErrors[codeOf(cause)] ?? ''} (${codeOf(cause)})`;

/** Runs work on files. Throws `LocalError` for an error of the system: `cannot read keys.json: … (ENOENT)`. */
export function onDisk<T>(doing: string, work: () => T, hints: readonly Hint[] = []): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause instanceof CommandError) throw cause;
    throw new LocalError(`cannot ${doing}${fileError(cause)}`, hints, { cause });
  }
}

/** Parses a text of a fixed format. Throws `LocalError` with this message if that fails. */
export function ofForm<T>(message: string, hints: readonly Hint[], read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new LocalError(message, hints, { cause });
  }
}

/** Describes a wrong input without the messages of zod, which are not written for people. */
export const explainInput = ({ issues }: InputError): string => issues.map(inputIssue).join('; ');

function inputIssue({ path, message }: InputIssue): string {
  if (message.endsWith('received undefined')) return `${path} is missing`;
  const said = /^(Too (small|big)|Invalid |Unrecognized )/.test(message) ? 'does not fit the contract' : message;
  return path === '' || said.startsWith(path) ? said : `${path}: ${said}`;
}

export const emptyValue = (name: string): UsageError =>
  new UsageError(`${name} is empty: the variable it comes from is not set`);
