import {
  type CallError,
  InputError,
  isCallError,
  NetworkError,
  outcomeUnknown,
  ProtocolError,
} from '../../client/errors.ts';
import { ApiError, addressReasons } from '../../contract/errors.ts';
import { waysWithoutServer } from '../config/location.ts';
import { firstLower } from '../output/words.ts';
import { adviseOn } from './advice.ts';
import { explainConnection } from './connection.ts';
import { CommandError, type ExitCode, exitCodes, explainInput, type Hint } from './errors.ts';
import { endpointOf } from './scope-advice.ts';
import { addressIn, type Situation } from './situation.ts';

export interface Report {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  /** The outcome of the request; null if no request was made. */
  readonly request: string | null;
  readonly hints: readonly Hint[];
  readonly status: number | null;
  readonly apiCode: number | null;
  readonly operation: string | null;
  readonly retryable: boolean;
  readonly idempotencyKey: string | null;
}

export function toReport(error: unknown, situation: Situation): Report {
  if (error instanceof CommandError) {
    const { code, message, exitCode, hints, idempotencyKey } = error;
    return { ...newReport(code, message, exitCode, hints), idempotencyKey };
  }
  if (error instanceof InputError) return newReport('usage', explainInput(error), exitCodes.usage);
  if (isCallError(error)) {
    const { operation = null, idempotencyKey = null } = error.call ?? {};
    const answer = error instanceof ApiError ? { status: error.status, apiCode: error.code } : statusOf(error);
    return { ...explainCall(error, situation), ...answer, operation, idempotencyKey };
  }
  if (isStartupError(error)) return newReport('local', error.message, exitCodes.local, [error.hint]);
  const message = error instanceof Error ? error.message : String(error);
  return newReport('internal', `something went wrong inside lkm: ${message}`, exitCodes.internal, [
    'This is a bug. Run it again with --debug, and report what it says.',
  ]);
}

/** Recognised by its name: the class belongs to the server, which is loaded only when it is needed. */
const isStartupError = (error: unknown): error is Error & { hint: string } =>
  error instanceof Error && error.name === 'StartupError' && 'hint' in error && typeof error.hint === 'string';

const statusOf = (error: CallError) => ('status' in error ? { status: error.status } : {});

function explainCall(error: CallError, situation: Situation): Report {
  const isForeign = error instanceof ProtocolError && error.foreign;
  if (!isForeign && outcomeUnknown(error)) return explainUnknown(error, situation);
  if (error instanceof ApiError) return explainRefusal(error, situation);
  if (error instanceof NetworkError) return explainNetwork(error, situation);
  const hints = isForeign
    ? hintsOnForeign(error, addressIn(situation))
    : [`Is ${addressIn(situation)} the address of the service?`];
  const report = newReport('bad_response', firstLower(error.message), exitCodes.serverError, hints);
  // A page or a redirect comes from another server or a proxy: repeating does not help.
  return { ...report, request: attemptsLine(error), retryable: !isForeign };
}

/** A path of `lkm api` that the contract does not have may be what is wrong. */
const hintsOnForeign = ({ call }: CallError, address: string): readonly Hint[] =>
  call === null || endpointOf(call.operation) !== undefined
    ? [`There is no lkm service at this address: is ${address} the address of the service, with its path?`]
    : [
        ['See the paths of the service:', "lkm api /openapi.json --jq '.paths|keys'"],
        `If it shows none, there is no lkm service at ${address}.`,
      ];

function explainNetwork(error: NetworkError, { servedDb, baseUrl }: Situation): Report {
  const known = error.sent ? null : explainConnection(error);
  if (servedDb !== undefined && known?.message.endsWith('(ECONNREFUSED)')) {
    return newReport('network', `no server runs at ${baseUrl}`, exitCodes.network, waysWithoutServer(servedDb));
  }
  const hint = error.sent
    ? 'This request only reads; it is safe to run it again.'
    : `Nothing was sent. ${known?.hint ?? 'Check the address and the network.'}`;
  return newReport('network', known?.message ?? error.message, exitCodes.network, [hint]);
}

function explainUnknown(error: CallError, { rerun }: Situation): Report {
  const { operation, idempotencyKey } = error.call ?? {};
  const effect = operation === 'POST /create-key' ? 'the key may have been created' : 'the change may have been made';
  const message = `${firstLower(error.message)}; ${effect}`;
  if (error instanceof ProtocolError && error.keyLost) {
    return newReport('outcome_unknown', message, exitCodes.outcomeUnknown, [
      'Run again, it could be made a second time. Look first what happened:',
      ['', 'lkm events list --last 20'],
      'Then have the proxy in between pass on the header Idempotency-Key; lkm doctor checks it.',
    ]);
  }
  const report = newReport('outcome_unknown', message, exitCodes.outcomeUnknown, [
    'Run the same command again with the same key; the service then returns its first answer:',
    ['', rerun(idempotencyKey ?? '')],
  ]);
  return { ...report, request: 'status' in error ? attemptsLine(error) : null };
}

function explainRefusal(error: ApiError, situation: Situation): Report {
  const { message, hints } = adviseOn(error, situation);
  const effect = error.call?.idempotencyKey == null ? '' : ' Nothing was changed.';
  const request = error.call ? `${attemptsLine(error)}${effect}` : null;
  const report = newReport(codeOfRefusal(error), message, exitOf(error), hints);
  return { ...report, retryable: report.retryable && error.reason !== 'misdirected', request };
}

/** `POST /key/sign answered 503 (code 1) at attempt 5, the last.` */
function attemptsLine(error: CallError): string {
  const { operation = 'The request', attempts = 1 } = error.call ?? {};
  const code = 'code' in error ? ` (code ${error.code})` : '';
  const status = 'status' in error ? `answered ${error.status}${code}` : 'had no answer';
  return `${operation} ${status}${attempts > 1 ? ` at attempt ${attempts}, the last` : ''}.`;
}

/** Stable name: `email_taken`. */
export const codeOfRefusal = ({ reason, status }: ApiError): string =>
  reason === null ? `http_${status}` : reason.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export function exitOf({ status, code, reason }: Pick<ApiError, 'status' | 'code' | 'reason'>): ExitCode {
  if (reason !== null && addressReasons.includes(reason)) return exitCodes.serverError;
  if (status === 409 && (code === 3 || code === 4)) return exitCodes.outcomeUnknown;
  return exitOfStatus[status] ?? (status < 500 ? exitCodes.usage : exitCodes.serverError);
}

const exitOfStatus: Readonly<Record<number, ExitCode>> = {
  401: exitCodes.unauthenticated,
  403: exitCodes.forbidden,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
  429: exitCodes.rateLimited,
};

const retryableExitCodes: readonly ExitCode[] = [
  exitCodes.outcomeUnknown,
  exitCodes.rateLimited,
  exitCodes.serverError,
  exitCodes.network,
];

function newReport(code: string, message: string, exitCode: ExitCode, hints: readonly Hint[] = []): Report {
  const retryable = retryableExitCodes.includes(exitCode);
  const call = { request: null, status: null, apiCode: null, operation: null, retryable, idempotencyKey: null };
  return { code, message, exitCode, ...call, hints };
}
