import type { ApiError, Reason } from '../../contract/errors.ts';
import { listEndpoints } from '../../contract/index.ts';
import { firstLower } from '../output/words.ts';
import type { Hint } from './errors.ts';

/** What is known about the call that failed. */
export interface Situation {
  readonly baseUrl: string | null;
  /** Where the token came from, in words. */
  readonly tokenFrom: string | null;
  /** The command line that repeats the change. */
  rerun(idempotencyKey: string): string;
}

/** What a refusal means to the person at the command line, and what to do about it. */
export function adviseOn(error: ApiError, situation: Situation): { message: string; hints: readonly Hint[] } {
  if (error.status === 401) return refusedToken(situation);
  if (error.status === 400 && error.code === 3)
    return { message: 'this idempotency key was used for a different request', hints: [relativeTimes, newKey] };
  if (error.reason === 'scopeMissing') return { message: firstLower(error.message), hints: scopeHints(error) };
  const hints = error.reason === null ? [] : (hintsFor[error.reason] ?? []);
  return { message: firstLower(error.message), hints };
}

const relativeTimes =
  'A time such as --expires 12h counts from now, so it differs each time: give a day or an instant.';

const newKey = 'Leave --idempotency-key out for a new request; give it only to repeat one.';

function refusedToken({ tokenFrom, baseUrl }: Situation): { message: string; hints: readonly Hint[] } {
  return {
    message: `the service refused the token from ${tokenFrom ?? 'nowhere'}`,
    hints: [`It may be revoked, expired, or belong to another service than ${baseUrl}.`],
  };
}

function scopeHints({ call }: ApiError): Hint[] {
  const named = listEndpoints().find(({ endpoint }) => `${endpoint.method} ${endpoint.path}` === call?.operation);
  const scope = named?.endpoint.scope ?? 'SCOPE';
  return [
    `The token lacks ${scope}. Whoever has an admin token can make one that has it:`,
    ['', `lkm tokens create --kind scoped --scope ${scope} --name NAME`],
  ];
}

const hintsFor: Partial<Record<Reason, readonly Hint[]>> = {
  invalidParams: ['A file for a key that never expires needs a life of its own: keys sign --ttl 30d'],
  notActivated: ['No device holds a slot of this key, so there is none to free.'],
  activationLimit: [
    ['See who uses it:', 'lkm keys get KEY -P ID'],
    ['Free a slot:', 'lkm keys deactivate KEY -P ID --host-id HOST'],
  ],
  deviceNotAllowed: ['The key names the hosts that may use it: keys get shows them with --json.'],
  wrongLicenseType: [['Issue one:', 'lkm keys create -P ID --type floating --max-sessions N']],
  sessionLimit: ['A session ends when its lease does; try again then.'],
  issueLimit: [['Make another:', 'lkm tokens create --kind scoped --scope license:write']],
  productUnavailable: [
    ['See them:', 'lkm products list'],
    ['Resume one:', 'lkm products update ID --active'],
  ],
  productNotFound: [['See them:', 'lkm products list']],
  licenseNotFound: ['A key is looked up under its own product: check both.'],
  deviceNotFound: [['See its devices:', 'lkm keys get KEY -P ID']],
  customerNotFound: [['See them:', 'lkm customers list']],
  tokenNotFound: [['See them:', 'lkm tokens list']],
  lastAdminToken: [
    ['Make another:', 'lkm tokens create --kind admin --name NAME'],
    ['Or revoke it:', 'lkm tokens revoke ID --last-admin'],
  ],
  emailTaken: [
    ['Find it:', 'lkm customers list --email ADDRESS'],
    ['Use it:', 'lkm keys create -P ID --customer ID'],
  ],
  rateLimited: ['Try again later, or wait longer: --max-wait 10m'],
  unavailable: ['The service did not run the request. Try again later.'],
};
