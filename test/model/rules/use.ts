import { type Key, liveSessions, type Model, pick, type Refusal, type Step, type Success } from '../state.ts';
import { endFromNow, instantAt, later } from '../time.ts';

/** Errors by name, as DESIGN has them. */
export const refusals = {
  invalid: { status: 400, code: 1 },
  keyReused: { status: 400, code: 3 },
  notAllowed: { status: 403, code: 1 },
  notActivated: { status: 403, code: 2 },
  slotsTaken: { status: 403, code: 3 },
  hostNotAllowed: { status: 403, code: 4 },
  expired: { status: 403, code: 5 },
  blocked: { status: 403, code: 6 },
  revoked: { status: 403, code: 14 },
  customerInactive: { status: 403, code: 7 },
  wrongType: { status: 403, code: 8 },
  seatsTaken: { status: 403, code: 9 },
  notFound: { status: 404, code: 1 },
  customerNotFound: { status: 404, code: 2 },
  sessionNotFound: { status: 404, code: 3 },
  mayNotMove: { status: 403, code: 12 },
  movedTooOften: { status: 403, code: 13 },
  notSigned: { status: 403, code: 11 },
  emailTaken: { status: 409, code: 2 },
  stale: { status: 409, code: 5 },
  inUse: { status: 409, code: 6 },
  noEnd: { status: 409, code: 7 },
  hostHoldsSlot: { status: 409, code: 8 },
  keyTaken: { status: 409, code: 9 },
  keyRevoked: { status: 409, code: 21 },
  planTaken: { status: 409, code: 18 },
  trialUsed: { status: 409, code: 19 },
  referenceTaken: { status: 409, code: 10 },
} as const satisfies Record<string, Refusal>;

/** The fields that name one licence. */
export const addressOf = ({ product }: Key, licenseKey: string) => ({ productId: product.id, licenseKey });

/** All texts that a licence has had, the present one first. */
export const textsOf = ({ text, previous }: Key): string[] => [text, ...previous.map((earlier) => earlier.text)];

/** The key of a number, by one of its texts. */
export const named = ({ keys }: Model, number: number) =>
  pick(
    keys.flatMap((key) => textsOf(key).map((text) => ({ key, text }))),
    number,
  );

/** Whether a text names a licence: the present one, and each that it had before until that ends. */
export const isNamed = ({ text: present, previous, isDeleted }: Key, text: string, now: number): boolean =>
  !isDeleted && (text === present || previous.some((earlier) => earlier.text === text && now < earlier.until));

/** A request that uses a key. */
interface Use {
  readonly path: string;
  readonly fields: { readonly hostId: string | null; readonly [field: string]: unknown };
  /** What `GET /key/why` explains of it. */
  readonly action?: string;
  readonly as?: Step['as'];
  readonly predict: () => Refusal | Success;
}

/** Plans a request that uses the key of a number; null where there is none. A key that is deleted is not found. */
export function useOf(model: Model, number: number, plan: (key: Key, text: string) => Use): Step | null {
  const { key, text } = named(model, number) ?? {};
  if (key === undefined || text === undefined) return null;
  const { path, fields, action, as, predict } = plan(key, text);
  const { hostId } = fields;
  const address = addressOf(key, text);
  return {
    ...(as !== undefined && { as }),
    method: 'POST',
    path,
    body: { ...address, ...fields, hostId: hostId ?? undefined },
    ...(action !== undefined && { why: { ...address, action, ...(hostId !== null && { hostId }) } }),
    touched: () => [key],
    predict: () => (isNamed(key, text, model.now) ? predict() : refusals.notFound),
  };
}

/** Whether a licence has expired: from the instant of its expiry on. In its grace period it may still be used. */
export const hasExpired = ({ expiresAt }: Key, now: number): boolean => expiresAt !== null && now >= expiresAt;

/** Until when an expired licence may be used; null when it has no end or no grace period. */
export const graceEnd = ({ expiresAt, grace }: Key): number | null =>
  expiresAt === null || grace === null ? null : later(expiresAt, grace);

/** What is said to whoever uses an expired licence in its grace period. */
export const warningOf = (key: Key, now: number): { readonly warning?: string } =>
  hasExpired(key, now)
    ? {
        warning: `License expired on ${instantAt(key.expiresAt ?? 0)}; it may be used until ${instantAt(graceEnd(key) ?? 0)}`,
      }
    : {};

/** The first use sets the end of a licence that waits for it. */
export function begin(key: Key, now: number): void {
  if (key.expiresAt !== null || key.expiresAfter === null) return;
  Object.assign(key, endFromNow(now, key.expiresAfter));
  if (key.change === 'none') key.change = 'devices';
}

/** Whether a licence has a device and is not blocked. */
export const isActivated = ({ devices, isBlocked }: Key): boolean => devices.length > 0 && !isBlocked;

/** Why a licence may not be used by a host at all; limits come after this. */
export function refuseUse(key: Key, hostId: string | null, now: number): Refusal | null {
  const end = graceEnd(key) ?? key.expiresAt;
  if (key.revoked) return refusals.revoked;
  if (key.isBlocked) return refusals.blocked;
  if (end !== null && now >= end) return refusals.expired;
  if (key.customer !== null && !key.customer.active) return refusals.customerInactive;
  const isAllowed = key.allowedHosts === null || (hostId !== null && key.allowedHosts.includes(hostId));
  return isAllowed ? null : refusals.hostNotAllowed;
}

export const hasFreeSeat = (key: Key, now: number): boolean =>
  key.maxSessions === null || liveSessions(key, now).length < key.maxSessions;
