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
  readonly plans: Plan[];
  /** The licence of the one trial that a host has had of a product, by both, and the text that it began with. */
  readonly trials: Map<string, { readonly key: Key; readonly text: string }>;
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
  /** To its page, unless they were taken back. */
  readonly links: { readonly path: string; readonly endsAt: number }[];
}

/** What a key has of its own, and gets from the plan that it is issued by. */
export interface Terms {
  readonly maxActivations: number | null;
  /** How long after its end it may still be used. */
  readonly grace: Span | null;
  readonly isTrial: boolean;
  readonly licenseType: 'node-locked' | 'floating';
  readonly maxSessions: number | null;
  readonly leaseSeconds: number;
}

export interface Plan extends Terms {
  readonly id: string;
  /** How long its keys last; null: for ever. */
  readonly duration: Span | null;
  /** Whether that is from their first use. */
  readonly fromFirstUse: boolean;
  readonly product: Product;
  name: string;
  active: boolean;
  features: object;
  readonly createdAt: string;
  updatedAt: string;
}

export interface Key extends Terms {
  /** Empty until it is read. */
  id: string;
  text: string;
  /** The texts that it had before, and until when they work. */
  readonly previous: { readonly text: string; until: number }[];
  readonly product: Product;
  /** Its features are those of the licence, where that has none of the same name. */
  plan: Plan | null;
  revoked: { readonly at: number; readonly reason: string | null } | null;
  readonly reference: string | null;
  readonly createdAt: number;
  /** As it was read last. */
  updatedAt: number;
  /** What has changed since then. */
  change: Change;
  /** What `updatedAt` was before. */
  readonly earlier: number[];
  customer: Customer | null;
  expiresAt: number | null;
  /** The day of the month that renewals by months lead to, where that of the end is earlier. */
  renewalDay: number | null;
  /** How long it lasts from its first use. */
  expiresAfter: Span | null;
  features: object;
  /** Free entries. */
  metadata: object;
  allowedHosts: readonly string[] | null;
  canSelfReset: boolean;
  /** Of one calendar year: which hosts have left a slot that they may come back to, and how often slots were moved. */
  slots: { readonly year: number; promises: { readonly hostId: string; readonly at: number }[]; moves: number };
  isBlocked: boolean;
  isDeleted: boolean;
  devices: { id?: string; hostId: string; tag: string | null; activatedAt: number; seenOn: string }[];
  /** The day of its last use. */
  seenOn: string | null;
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

export interface StoredAnswer {
  readonly fingerprint: string;
  /** Who made the request first. */
  readonly as: NonNullable<Step['as']>;
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
  /** What is sent to a page, in place of a body. */
  readonly form?: Readonly<Record<string, string>>;
  /** Whose token asks; the vendor's if absent. */
  readonly as?: 'admin' | 'client';
  readonly predict: () => Refusal | Success;
  /** What `GET /key/why` is asked before. */
  readonly why?: Readonly<Record<string, string>>;
  /** Keys that are read and compared afterwards. */
  touched(): readonly Key[];
}

export interface Refusal {
  readonly status: number;
  /** Undefined where a page refuses. */
  readonly code: number | undefined;
}

/** A success: what the answer holds at least, and what it changes. */
export interface Success {
  readonly status: 200 | 201 | 303;
  readonly body: object | undefined;
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
