import type { NetworkError } from '../../client/errors.ts';
import type { ApiError, Reason } from '../../contract/errors.ts';
import { firstLower, moment, typedDuration } from '../output/words.ts';
import type { Hint } from './errors.ts';
import { findOperation, type OperationName } from './operation.ts';

/** What is known about the request that failed. */
export interface Situation {
  /** Null as long as none is chosen. */
  readonly baseUrl: string | null;
  /** Where the token came from, in words; null as long as there is none. */
  readonly tokenFrom: string | null;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The command line that repeats the change. */
  rerun(idempotencyKey: string): string;
}

/** The address of the service, in a sentence about it. */
export const addressIn = ({ baseUrl }: Situation): string => baseUrl ?? 'this';

/** A message and what to do about it. */
export interface Advice {
  readonly message: string;
  readonly hints: readonly Hint[];
}

/** What an error of the service means to the person at the command line, and what to do about it. */
export function adviseOn(error: ApiError, situation: Situation): Advice {
  const message = firstLower(error.message);
  if (error.status === 401) return refusedToken(situation);
  if (error.reason === 'idempotencyKeyReused')
    return { message: 'this idempotency key was used for a different request', hints: [relativeTimes, newKey] };
  // What is printed here may stay in a log: the address of a person does not belong there.
  if (error.reason === 'emailTaken')
    return { message: 'a customer with this e-mail address already exists', hints: hintsByReason.emailTaken ?? [] };
  if (error.reason === 'scopeMissing') return { message, hints: scopeHints(error, situation) };
  if (error.reason === 'invalidParams') return { message, hints: [paramsHint(error)] };
  if (error.status === 429) return { message, hints: [waitHint(error, situation)] };
  return { message, hints: error.reason === null ? [] : (hintsByReason[error.reason] ?? []) };
}

const relativeTimes =
  'A time such as --expires 12h counts from now, so it differs each time: give a day or an instant.';

const newKey = 'Leave --idempotency-key out for a new request; give it only to repeat one.';

function refusedToken(situation: Situation): Advice {
  const { tokenFrom } = situation;
  return {
    message: `the service refused the token${tokenFrom === null ? '' : ` from ${tokenFrom}`}`,
    hints: [`It may be revoked, expired, or belong to another service than ${addressIn(situation)}.`],
  };
}

function scopeHints({ call }: ApiError, { tokenFrom }: Situation): Hint[] {
  const scope = findOperation(call?.operation)?.endpoint.scope ?? 'SCOPE';
  return [
    `The token lacks ${scope}. With an admin token, one that has it can be made:`,
    [
      '',
      `lkm tokens create --kind scoped --scope ${scope} --name NAME${tokenFrom === '--token-file' ? ' --token-file FILE' : ''}`,
    ],
  ];
}

const signing: OperationName = 'keys.sign';

/** When a file is signed and the service names no field, the usual reason is known. */
function paramsHint({ call, fields }: ApiError): Hint {
  const isSigning = findOperation(call?.operation)?.name === signing;
  if (isSigning && (fields.length === 0 || fields.includes('ttl'))) {
    return 'A file for a key that never expires needs a life of its own: keys sign --ttl 30d';
  }
  if (fields.length === 0) return 'A field is missing or has a value that the service does not take.';
  const wrong = `Missing, or with a value that the service does not take: ${fields.join(', ')}`;
  return fields.includes('maxConcurrentSessions')
    ? `${wrong}. Only a floating key has sessions: --type floating makes it one.`
    : wrong;
}

/** `Retry-After` in words: how long, and until when. */
function waitHint(error: ApiError, { now }: Situation): Hint {
  const waitMs = error.retryAfterMs;
  if (waitMs === null) return 'Try again later, or wait longer: --max-wait 10m';
  const seconds = Math.ceil(waitMs / 1_000);
  const until = new Date(now + seconds * 1_000).toISOString();
  const time = seconds < 86_400 ? `${until.slice(11, 19)} UTC` : moment(until);
  return `The service asks to wait ${typedDuration(seconds)}: try again after ${time}, or add --max-wait ${typedDuration(seconds)}.`;
}

/** What to do about each error of the service, where there is something to do. */
export const hintsByReason: Partial<Record<Reason, readonly Hint[]>> = {
  notActivated: [['Activate it:', 'lkm keys activate KEY --host-id ID']],
  activationLimit: [
    ['See its devices:', 'lkm devices list KEY'],
    ['Free a slot:', 'lkm keys deactivate KEY --host-id HOST'],
  ],
  // The hosts that are named replace those that were allowed before.
  deviceNotAllowed: [
    ['See who is allowed:', 'lkm keys get KEY --fields allowedHosts'],
    ['Allow it beside them:', 'lkm keys update KEY --allow-host HOST --allow-host ID'],
  ],
  licenseDisabled: [['Enable it:', 'lkm keys unblock KEY']],
  licenseExpired: [['Renew it:', 'lkm keys renew KEY --for 1y']],
  customerInactive: [
    ['See its customer:', 'lkm keys get KEY --fields customerId'],
    ['Make it active:', 'lkm customers update CUSTOMER --active'],
  ],
  wrongLicenseType: [['Make it floating:', 'lkm keys update KEY --type floating']],
  sessionLimit: [
    'A session ends when its lease does; try again then.',
    ['See its sessions:', 'lkm sessions list --key KEY'],
    ['Free a seat:', 'lkm sessions release SESSION'],
  ],
  sessionNotFound: [
    'A session whose lease has ended is gone; lease another.',
    ['See those that are left:', 'lkm sessions list'],
  ],
  signatureRefused: ['The secret or the nonce is not the one that the session was given last; lease another session.'],
  selfResetOff: ['The key does not let its customer move devices: ask the vendor.'],
  rebindLimit: ['The customer has moved as many devices as a year allows; the vendor may move more.'],
  hostActivated: [['See its devices:', 'lkm devices list KEY']],
  issueLimit: [['Make another:', 'lkm tokens create --kind scoped --scope license:write']],
  productUnavailable: [
    ['See them:', 'lkm products list'],
    ['Resume one:', 'lkm products update ID --active'],
  ],
  productNotFound: [['See them:', 'lkm products list']],
  licenseNotFound: ['Check the key. With -P or LKM_PRODUCT, it must be a key of that product.'],
  deviceNotFound: [['See its devices:', 'lkm devices list KEY']],
  customerNotFound: [['See them:', 'lkm customers list']],
  tokenNotFound: [['See them:', 'lkm tokens list']],
  stale: [['Look again:', 'lkm keys get KEY --fields updatedAt']],
  webhookInactive: [['Let it go on:', 'lkm webhooks update ID --active']],
  inUse: ['With --in-use it is done all the same.'],
  noEnd: [['Set its expiry:', 'lkm keys update KEY --expires 2027-12-31']],
  referenceTaken: [['Print that key:', 'lkm keys create -P ID --reference R --if-absent']],
  lastAdminToken: [
    ['Make another:', 'lkm tokens create --kind admin --name NAME'],
    ['Or revoke it:', 'lkm tokens revoke ID --last-admin'],
  ],
  emailTaken: [
    ['Find it:', 'lkm customers list --email ADDRESS'],
    ['Use it:', 'lkm keys create -P ID --customer ID'],
  ],
  unavailable: ['The service did not run the request. Try again later.'],
};

/** What a fix is for, as words of a shell. */
export interface FixSubject {
  readonly key: string;
  readonly product: string;
  /** The host that wanted to use the key. */
  readonly host: string;
}

/** The command lines that make a rule of `keys why` pass, by its reason, each with its label. */
export const fixesFor = (reason: string, { key, product, host }: FixSubject): (readonly [string, string])[] =>
  (hintsByReason[reason as Reason] ?? []).flatMap((hint) => {
    if (typeof hint === 'string') return [];
    const [label, command] = hint;
    return [[label, command.replace('KEY', () => `${key} -P ${product}`).replace(/\bID\b/, () => host)] as const];
  });

/** Explains why a connection failed; null when no code of the error is known. */
export function explainConnection(error: NetworkError): { readonly message: string; readonly hint: string } | null {
  const host = /cannot connect to ([^\s]+):/.exec(error.message)?.[1] ?? 'the service';
  for (const code of codesOf(error)) {
    const known = sentences.find(([pattern]) => pattern.test(code));
    if (known) return { message: `cannot connect to ${host}: ${known[1]}`, hint: known[2] };
  }
  return null;
}

/** Node's and OpenSSL's codes, what they mean, and what to do. */
const sentences: readonly (readonly [code: RegExp, meaning: string, hint: string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens there (ECONNREFUSED)', 'Is the service running, and is this its address?'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its name cannot be resolved', 'Check the name and the network.'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'the network has no way to it', 'Check the network.'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'it does not accept the connection in time', 'Check the network.'],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|INVALID_CA/,
    'its certificate is not signed by an authority that this machine trusts',
    'If it is your own authority, name its certificate in NODE_EXTRA_CA_CERTS.',
  ],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired', 'It must be renewed at the service; check the clock here too.'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet', 'Check the clock of this machine.'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another name', 'Use the name that the certificate has.'],
  [/^(CERT_|CRL_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_)/, 'its certificate cannot be verified', 'Check it.'],
  [
    /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    'it does not speak TLS',
    'Check the port, or use http:// for a service on this machine.',
  ],
  [/^ERR_SSL_/, 'the TLS handshake failed', 'Check the address, and what stands before the service.'],
];

/** The codes of an error and its causes, the innermost first; an attempt at several addresses has several. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 8) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const within = error instanceof AggregateError ? error.errors : [error.cause];
  return [...within.flatMap((one) => codesOf(one, depth + 1)), ...own];
}
