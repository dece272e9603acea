import { ApiError, InputError, NetworkError, outcomeUnknown, ProtocolError } from '../../client/index.ts';
import { firstLower } from '../output/words.ts';
import { adviseOn, type Situation } from './advice.ts';
import { CommandError, type Hint } from './errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';

/** An error as the person or the program at the other end needs it. */
export interface Report {
  /** Our stable name for it. */
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  readonly hints: readonly Hint[];
  readonly status: number | null;
  readonly apiCode: number | null;
  /** `POST /create-key`. */
  readonly operation: string | null;
  /** Whether the same command may succeed later. */
  readonly retryable: boolean;
  readonly idempotencyKey: string | null;
}

type CallError = ApiError | NetworkError | ProtocolError;

/** Reads an error: what it is called, how the command ends, what to do next. */
export function explain(error: unknown, situation: Situation): Report {
  if (error instanceof CommandError) {
    const { code, message, exitCode, hints, idempotencyKey } = error;
    return { ...report(code, message, exitCode, hints), idempotencyKey };
  }
  if (error instanceof InputError) return report('usage', error.message, exitCodes.usage);
  if (isCallError(error)) return { ...explainCall(error, situation), ...traceOf(error) };
  if (isStartupError(error)) return report('local', error.message, exitCodes.local, [error.hint]);
  const message = error instanceof Error ? error.message : String(error);
  return report('internal', `something went wrong inside lkm: ${message}`, exitCodes.internal, [
    'This is a bug. Run it again with --debug, and report what it says.',
  ]);
}

/** Errors of the server's side come from another bundle: they are known by their name. */
const isStartupError = (error: unknown): error is Error & { hint: string } =>
  error instanceof Error && error.name === 'StartupError' && 'hint' in error && typeof error.hint === 'string';

const isCallError = (error: unknown): error is CallError =>
  error instanceof ApiError || error instanceof NetworkError || error instanceof ProtocolError;

function explainCall(error: CallError, situation: Situation): Report {
  if (outcomeUnknown(error)) return explainUnknown(error, situation);
  if (error instanceof ApiError) return explainRefusal(error, situation);
  if (error instanceof NetworkError) {
    const hint = error.sent
      ? 'It was only a question: ask again.'
      : 'Nothing was sent. Check the address and the network.';
    return report('network', error.message, exitCodes.network, [hint]);
  }
  const hint = `Is ${situation.baseUrl} the address of the service?`;
  return report('bad_response', error.message, exitCodes.serverError, [hint]);
}

function explainUnknown(error: CallError, { rerun }: Situation): Report {
  const key = error.call?.idempotencyKey ?? '';
  return report('outcome_unknown', `${firstLower(error.message)}; ${mayHave(error)}`, exitCodes.outcomeUnknown, [
    'Run the same command again with the same key; the service then returns its first answer:',
    ['', rerun(key)],
  ]);
}

const effects: Readonly<Record<string, string>> = {
  'POST /create-key': 'the key may have been created',
  'POST /deactivate-key': 'the device may have been freed',
  'POST /key/sign': 'a slot may have been taken',
  'POST /key/checkout': 'a session may have begun',
  'DELETE /customer/by-id': 'the customer may have been deleted',
};

const mayHave = ({ call }: CallError): string => effects[call?.operation ?? ''] ?? 'the change may have been made';

function explainRefusal(error: ApiError, situation: Situation): Report {
  const { message, hints } = adviseOn(error, situation);
  return report(codeOf(error), message, exitOf(error), [...answerLine(error), ...hints]);
}

function answerLine({ status, code, call }: ApiError): Hint[] {
  if (!call) return [];
  const effect = call.idempotencyKey === null ? '' : ' Nothing was changed.';
  return [`${call.operation} answered ${status} (code ${code}).${effect}`];
}

const codeOf = ({ reason, status }: ApiError): string =>
  reason === null ? `http_${status}` : reason.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function exitOf({ status, code }: ApiError): ExitCode {
  switch (status) {
    case 401:
      return exitCodes.unauthenticated;
    case 403:
      return exitCodes.forbidden;
    case 404:
      return exitCodes.notFound;
    case 409:
      return code === 2 ? exitCodes.conflict : exitCodes.outcomeUnknown;
    case 429:
      return exitCodes.rateLimited;
    default:
      return status < 500 ? exitCodes.usage : exitCodes.serverError;
  }
}

function traceOf({ call, ...error }: CallError): Partial<Report> {
  const answered = 'status' in error ? { status: error.status as number } : {};
  const coded = 'code' in error ? { apiCode: error.code as number } : {};
  return { ...answered, ...coded, operation: call?.operation ?? null, idempotencyKey: call?.idempotencyKey ?? null };
}

const retryable: readonly ExitCode[] = [
  exitCodes.outcomeUnknown,
  exitCodes.rateLimited,
  exitCodes.serverError,
  exitCodes.network,
];

function report(code: string, message: string, exitCode: ExitCode, hints: readonly Hint[] = []): Report {
  const nothing = { status: null, apiCode: null, operation: null, idempotencyKey: null };
  return { code, message, exitCode, hints, ...nothing, retryable: retryable.includes(exitCode) };
}
