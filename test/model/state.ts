import type { Parsed } from '../support/world.ts';
import type { Span } from './time.ts';

/** What one sequence of operations has made, as the rules of the service say; instants in milliseconds since 1970. */
export interface Model {
  /** Tells this sequence's names from those of others in the same account. */
  readonly name: string;
  now: number;
  readonly products: Product[];
  /** Deleted ones stay, here and among the keys, so that requests name what is not there any more. */
  readonly customers: Customer[];
  readonly keys: Key[];
  /** By idempotency key: what was answered, until it is cleaned up. */
  readonly answers: Map<string, StoredAnswer>;
  /** Requests that were sent under an idempotency key, to be sent again. */
  readonly sent: { readonly step: Step; readonly idempotencyKey: string }[];
}

interface Product {
  readonly id: string;
  active: boolean;
}

export interface Customer {
  /** Empty until it is read: the answer to a new key does not tell it. */
  id: string;
  name: string;
  email: string | null;
  active: boolean;
  isDeleted: boolean;
}

export interface Key {
  readonly text: string;
  readonly product: Product;
  readonly reference: string | null;
  readonly createdAt: number;
  /** As it was read last. */
  updatedAt: number;
  /** What has changed since then. */
  change: Change;
  /** What `updatedAt` was before. */
  readonly earlier: number[];
  customer: Customer | null;
  maxActivations: number | null;
  expiresAt: number | null;
  /** How long it lasts from its first use. */
  expiresAfter: Span | null;
  /** How long after its end it may still be used. */
  grace: Span | null;
  features: object;
  isTrial: boolean;
  /** Free entries. */
  metadata: object;
  allowedHosts: readonly string[] | null;
  licenseType: 'node-locked' | 'floating';
  maxSessions: number | null;
  leaseSeconds: number;
  isBlocked: boolean;
  isDeleted: boolean;
  devices: { hostId: string; tag: string | null; activatedAt: number }[];
  sessions: Session[];
}

/**
 * What the last instant of change has to tell: the same one when nothing has changed; the same or a later one when
 * devices have; a later one when the vendor has changed the licence, so that a stale copy is known as one.
 */
type Change = 'none' | 'devices' | 'terms';

export interface Session {
  readonly id: string;
  readonly key: Key;
  readonly secret: string;
  readonly hostId: string | null;
  /** What the next request signs. */
  nonce: string;
  /** What the last one has signed; null once it was accepted a second time. */
  lastNonce: string | null;
  expiresAt: number;
  isEnded: boolean;
}

interface StoredAnswer {
  readonly fingerprint: string;
  readonly status: number;
  readonly text: string;
  readonly at: number;
}

/** A request, and what the rules say of it at the time when it is sent. */
export interface Step {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly predict: () => Refusal | Success;
  /** What `GET /key/why` is asked of the key before. */
  readonly why?: { readonly key: Key; readonly action: string; readonly hostId: string | null };
  /** Keys that are read and compared afterwards. */
  touched(): readonly Key[];
}

export interface Refusal {
  readonly status: number;
  readonly code: number;
}

/** A success: what the answer holds at least, and what it changes. */
export interface Success {
  readonly status: 200 | 201;
  readonly body: object;
  apply(body: Parsed): void;
}

export const done = (body: object, apply: Success['apply'], status: Success['status'] = 200): Success => ({
  status,
  body: { code: 0, ...body },
  apply,
});

/** The one of a list that a number of a generated operation means; undefined when the list is empty. */
export const pick = <T>(list: readonly T[], number: number): T | undefined => list[number % list.length];

/** The sessions whose lease has not run out. */
export const liveSessions = (key: Key, now: number): Session[] =>
  key.sessions.filter(({ expiresAt, isEnded }) => !isEnded && expiresAt > now);
