import fc from 'fast-check';
import type { Span } from './time.ts';

/** One operation of a sequence, of the kind `K`; numbers stand for what there is then, counted round. */
export type Operation<K extends Kind = Kind> = Extract<AnyOperation, { kind: K }>;

export type Kind = AnyOperation['kind'];

/** The kinds that send a new request; the others move the clock, or send an earlier request again. */
export type RequestKind = Exclude<Kind, 'advance' | 'advanceTo' | 'repeat'>;

const number = fc.nat({ max: 11 });
const hostId = fc.constantFrom('host-a', 'host-b', 'host-c');
const hostOrNone = fc.option(hostId, { freq: 4 });
const spans: readonly Span[] = [{ seconds: 1 }, { seconds: 300 }, { days: 1 }, { months: 1 }, { months: 12 }];
const span = fc.constantFrom(...spans);
/** Short ones of what there may be. */
const limit = fc.option(fc.integer({ min: 1, max: 3 }), { freq: 3 });

const kinds = {
  create: weighted(4, {
    kind: fc.constant('create'),
    product: number,
    customer: fc.oneof(
      fc.record({ kind: fc.constant('none') }),
      fc.record({ kind: fc.constant('given'), number }),
      fc.record({ kind: fc.constant('new'), email: fc.option(fc.nat({ max: 2 })) }),
    ),
    maxActivations: limit,
    /** Undefined: the default. */
    expires: fc.constantFrom<Span | null | undefined>(...spans, { seconds: -1 }, { seconds: 0 }, null, undefined),
    /** Null: node-locked; 0: without limit. */
    maxSessions: fc.option(fc.nat({ max: 3 }), { freq: 2 }),
    leaseSeconds: fc.constantFrom(300, 900),
    allowedHosts: fc.option(fc.uniqueArray(hostId, { minLength: 1, maxLength: 2 }), { freq: 1, nil: null }),
    metadata: fc.constantFrom(undefined, { is_trial: true }, { features: { sso: true }, order: 'A-1' }),
  }),
  sign: weighted(6, {
    kind: fc.constant('sign'),
    key: number,
    hostId,
    ttl: fc.constantFrom(null, 60, 3_600, 86_400_000),
  }),
  deactivate: weighted(3, { kind: fc.constant('deactivate'), key: number, hostId: hostOrNone }),
  checkout: weighted(5, { kind: fc.constant('checkout'), key: number, hostId: hostOrNone }),
  createCustomer: weighted(2, { kind: fc.constant('createCustomer'), email: fc.option(fc.nat({ max: 2 })) }),
  deleteCustomer: weighted(1, { kind: fc.constant('deleteCustomer'), customer: number }),
  setProduct: weighted(1, { kind: fc.constant('setProduct'), product: number, active: fc.boolean() }),
  advance: weighted(3, { kind: fc.constant('advance'), span }),
  /** To an end of something that is still to come, or a millisecond before or after it. */
  advanceTo: weighted(3, { kind: fc.constant('advanceTo'), end: number, by: fc.constantFrom(-1, 0, 1) }),
  /** A request that was sent before, under the same idempotency key; or another one under its key. */
  repeat: weighted(2, { kind: fc.constant('repeat'), sent: number, asAnother: fc.nat({ max: 4 }).map((n) => n === 0) }),
};

type AnyOperation = (typeof kinds)[keyof typeof kinds]['arbitrary'] extends fc.Arbitrary<infer O> ? O : never;

/** A kind that comes `weight` times as often as one of weight 1. */
function weighted<T>(weight: number, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return { weight, arbitrary: fc.record(fields) };
}

/** An operation, and whether it is sent under an idempotency key. */
export interface Move {
  readonly operation: Operation;
  readonly isKeyed: boolean;
}

/** Sequences of operations. */
export const sequences = fc.array(
  fc.record<Move>({
    operation: fc.oneof(...Object.values(kinds)),
    isKeyed: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40, size: 'max' },
);
