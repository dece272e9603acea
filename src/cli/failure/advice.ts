import type { ApiError, Reason } from '../../contract/errors.ts';
import { firstLower, moment, quote, typedDuration } from '../output/words.ts';
import type { CommandError, Hint } from './errors.ts';
import { adviseOnScope } from './scope-advice.ts';
import { addressIn, type Situation } from './situation.ts';

type Advice = Pick<CommandError, 'message' | 'hints'>;

/** Explains an error of the service and proposes a next step. */
export function adviseOn(error: ApiError, situation: Situation): Advice {
  const { status, reason } = error;
  if (status === 401) return tokenRefused(situation);
  const message = (reason && messages[reason]) ?? firstLower(error.message);
  if (status === 429) return { message, hints: [waitHint(error, situation)] };
  if (reason === 'invalidParams') {
    return error.fields.join() === 'licenseKey' ? noKey : { message, hints: [paramsHint(error)] };
  }
  if (reason === 'scopeMissing') return adviseOnScope(error, situation);
  if (reason === 'notActivated' && error.call?.operation === 'POST /deactivate-key') {
    return { message: 'the key has no device: nothing is to be freed', hints: [['See it:', 'lkm keys get KEY']] };
  }
  const latest = reason === 'tokenOutlives' && /[\d-]+T[\d:.]+Z/.exec(error.message)?.[0];
  if (latest) return { message, hints: [['The longest that works:', situation.rerun(latest, '--expires')]] };
  return { message, hints: (reason && hintsByReason[reason]) ?? [] };
}

const tokenRefused = (situation: Situation): Advice => ({
  message: `the service refused the token${situation.tokenFrom === null ? '' : ` from ${situation.tokenFrom}`}`,
  hints: [`It may be revoked, expired, or belong to another service than ${addressIn(situation)}.`],
});

/** The answer to a text that is shorter than any key that was issued here. */
const noKey = {
  message: 'this is no licence key',
  hints: [['Find the key by what you have:', 'lkm find KEY']],
} as const;

/** Replaces messages of the service: the address of a person does not belong in a log. */
const messages: Partial<Record<Reason, string>> = {
  idempotencyKeyReused: 'this idempotency key was used for a different request',
  emailTaken: 'a customer with this e-mail address already exists',
};

/** If `keys sign` fails and the service names no field, the usual reason is known. */
function paramsHint({ call, fields }: ApiError): Hint {
  if (call?.operation === 'POST /key/sign' && (fields.length === 0 || fields.includes('ttl'))) {
    return 'A file for a key that never expires needs a life of its own: keys sign --ttl 30d';
  }
  if (fields.length === 0) return 'A field is missing or has a value that the service does not take.';
  const wrong = `Missing, or with a value that the service does not take: ${fields.join(', ')}`;
  const isFloating = fields.includes('maxConcurrentSessions');
  return isFloating ? `${wrong}. Only a floating key has sessions: --type floating makes it one.` : wrong;
}

/** `Retry-After` as a duration and a time. */
const DEFAULT_WAIT_SECONDS = 60;
const LONG_WAIT = '10m';

function waitHint({ retryAfterMs }: ApiError, { now }: Situation): Hint {
  if (retryAfterMs === null) return `Try again later, or wait longer: --max-wait ${LONG_WAIT}`;
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const until = new Date(now + seconds * 1_000).toISOString();
  const time = seconds < 86_400 ? `${until.slice(11, 19)} UTC` : moment(until);
  const wait = typedDuration(seconds);
  // Short waits were too many.
  const limit = seconds <= DEFAULT_WAIT_SECONDS ? LONG_WAIT : wait;
  return `The service asks to wait ${wait}: try again after ${time}, or add --max-wait ${limit}.`;
}

/** Advice for each error of the service. */
export const hintsByReason: Partial<Record<Reason, readonly Hint[]>> = {
  idempotencyKeyReused: [
    'A time such as --expires 12h counts from now, so it differs each time: give a day or an instant.',
    'Leave --idempotency-key out for a new request; give it only to repeat one.',
  ],
  notActivated: [['Activate it:', 'lkm keys activate KEY --host-id HOST']],
  activationLimit: [
    ['See its devices:', 'lkm devices list KEY'],
    ['Free a slot:', 'lkm keys deactivate KEY --host-id DEVICE'],
  ],
  // A new list of hosts replaces the old one.
  deviceNotAllowed: [
    ['See who is allowed:', 'lkm keys get KEY --fields allowedHosts'],
    ['Allow it beside them:', 'lkm keys update KEY --allow-host OTHER --allow-host HOST'],
  ],
  licenseDisabled: [['Enable it:', 'lkm keys unblock KEY']],
  licenseRevoked: [['It stays revoked; issue another:', 'lkm keys create -P PRODUCT']],
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
    ['See the others:', 'lkm sessions list'],
  ],
  signatureRefused: ['The secret or the nonce of the session is not the latest; lease another session.'],
  // Tokens of the vendor are not limited.
  selfResetOff: [
    'The slots that are left stay promised to hosts that have left them, until the year ends.',
    ['Activate it for the customer:', 'lkm keys activate KEY --host-id HOST'],
    ['Let its customer do it:', 'lkm keys update KEY --self-reset true'],
  ],
  rebindLimit: [
    'The customer has moved as many slots as a year allows; a host that has left its slot may come back.',
    ['Activate it for the customer:', 'lkm keys activate KEY --host-id HOST'],
  ],
  hostActivated: [['See its devices:', 'lkm devices list KEY']],
  tokenOutlives: [['Let it end with its maker:', 'lkm tokens create --kind KIND --name NAME']],
  issueLimit: [['Make another:', 'lkm tokens create --kind scoped --scope license:write']],
  productUnavailable: [
    ['See them:', 'lkm products list'],
    ['Resume one:', 'lkm products update PRODUCT --active'],
  ],
  productNotFound: [['See them:', 'lkm products list']],
  licenseNotFound: ['Check the key. With -P or LKM_PRODUCT, it must be a key of that product.'],
  deviceNotFound: [['See its devices:', 'lkm devices list KEY']],
  customerNotFound: [['See them:', 'lkm customers list']],
  planNotFound: [
    'The plan must be active and belong to the product; for a trial it needs --trial true.',
    ['See them:', 'lkm plans list'],
  ],
  versionNotFound: [['See them:', 'lkm products versions PRODUCT']],
  webhookNotFound: [['See them:', 'lkm webhooks list']],
  tokenNotFound: [['See them:', 'lkm tokens list']],
  stale: [['Look again:', 'lkm keys get KEY --fields updatedAt']],
  aheadOfService: ['Leave out --after to follow new events only.'],
  webhookInactive: [['Let it go on:', 'lkm webhooks update WEBHOOK --active']],
  inUse: ['--in-use makes the change nevertheless.'],
  noEnd: [['Set its expiry:', 'lkm keys update KEY --expires 2027-12-31']],
  referenceTaken: [['Print that key:', 'lkm keys create -P PRODUCT --reference REFERENCE --if-absent']],
  lastAdminToken: [
    ['Make another:', 'lkm tokens create --kind admin --name NAME'],
    ['Or revoke it:', 'lkm tokens revoke TOKEN --last-admin'],
  ],
  emailTaken: [
    ['Find it:', 'lkm customers list --email EMAIL'],
    ['Use it:', 'lkm keys create -P PRODUCT --customer EMAIL'],
  ],
  misdirected: [
    'A proxy before the service passes another name on: start lkm serve with --behind-proxy and the address of the proxy.',
    'Or let the proxy send Host: localhost. Without a proxy, use localhost in the base URL.',
  ],
  unavailable: ['The service did not run the request. Try again later.'],
};

/** Placeholders in command lines, by the field of the contract. */
const placeholders: Readonly<Record<string, string>> = {
  licenseKey: 'KEY',
  hostId: 'HOST',
  productId: 'PRODUCT',
  customerId: 'CUSTOMER',
  email: 'EMAIL',
  'newCustomer.email': 'EMAIL',
  reference: 'REFERENCE',
  sessionId: 'SESSION',
  tokenId: 'TOKEN',
  webhookId: 'WEBHOOK',
};

/** Replaces the placeholders of a command line by values. */
export function withValues(command: string, values: ReadonlyMap<string, string>): string {
  let filled = command;
  for (const [field, value] of values) {
    const { [field]: placeholder } = placeholders;
    if (placeholder) filled = filled.replaceAll(new RegExp(`\\b${placeholder}\\b`, 'g'), () => quote(value));
  }
  return filled;
}

export interface FixSubject {
  readonly key: string;
  readonly product: string;
  readonly host: string;
}

/** Command lines that make a failed rule of `keys why` pass, each with its label. */
export const fixesFor = (reason: string, { key, product, host }: FixSubject): (readonly [string, string])[] =>
  (hintsByReason[reason as Reason] ?? []).flatMap((hint) => {
    if (typeof hint === 'string') return [];
    const [label, command] = hint;
    const values = new Map([
      ['productId', product],
      ['hostId', host],
    ]);
    const filled = withValues(command, values);
    return [[label, filled.replace('KEY', () => key)] as const];
  });
