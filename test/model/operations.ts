import fc from 'fast-check';
import { listEndpoints } from '../../src/contract/index.ts';
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
const tag = fc.constantFrom(null, null, 'Anna');
const email = fc.option(fc.nat({ max: 2 }));
/** What the caller has seen of the licence before it changes it: nothing, its last instant of change, or an earlier one. */
const seen = fc.constantFrom('nothing', 'nothing', 'last', 'earlier');
/** Short ones of what there may be. */
const limit = fc.option(fc.integer({ min: 1, max: 3 }), { freq: 3 });

/** Ends of licences: mostly ones that leave time for more. */
const ends: readonly (Span | null)[] = [
  null,
  null,
  { months: 12 },
  { months: 12 },
  ...spans,
  { seconds: 0 },
  { seconds: -1 },
];
const steps: readonly Span[] = [
  { seconds: 1 },
  { seconds: 100 },
  { seconds: 300 },
  { seconds: 1_000 },
  { days: 1 },
  { months: 1 },
];
const leaseSeconds = fc.constantFrom(300, 900);
const allowedHosts = fc.option(fc.uniqueArray(hostId, { minLength: 1, maxLength: 2 }), { freq: 1 });
const signed = {
  session: fc.nat({ max: 4 }),
  /** Which nonce is signed: the current one, the last one, or one that was never given. */
  nonce: fc.constantFrom<'current' | 'last' | 'other'>('current', 'current', 'current', 'last', 'other'),
  isForged: fc.nat({ max: 7 }).map((n) => n === 0),
};

interface NewMetadata {
  readonly features?: Readonly<Record<string, boolean>>;
  readonly is_trial?: boolean;
  readonly order?: string;
}

/** Null removes an entry. */
interface MetadataChange {
  readonly features?: Readonly<Record<string, boolean | number | null>>;
  readonly is_trial?: boolean;
  readonly order?: string | null;
}

/** Whether the contract has an operation. */
const isOffered = (name: string): boolean => listEndpoints().some((each) => each.name === name);

/** Whether keys have references, terms from the first use and times of grace. */
export const hasTerms = isOffered('keys.update');

const ifTerms = <T>(arbitrary: fc.Arbitrary<T | null>): fc.Arbitrary<T | null> =>
  hasTerms ? arbitrary : fc.constant(null);

const kinds = {
  create: weighted(5, 'keys.create', {
    kind: fc.constant('create'),
    product: number,
    reference: ifTerms(fc.constantFrom(null, null, 0, 1)),
    customer: fc.oneof(
      fc.record({ kind: fc.constant('none') }),
      fc.record({ kind: fc.constant('given'), number }),
      fc.record({ kind: fc.constant('new'), email }),
    ),
    maxActivations: limit,
    /** Undefined: the default. */
    expires: fc.constantFrom<Span | null | undefined>(undefined, ...ends),
    expiresAfter: ifTerms(fc.option(span, { freq: 1 }).chain((after) => fc.constantFrom(null, null, after))),
    grace: ifTerms(fc.constantFrom(null, null, ...spans)),
    /** Null: node-locked; 0: without limit. */
    maxSessions: fc.option(fc.nat({ max: 3 }), { freq: 2 }),
    leaseSeconds,
    allowedHosts,
    metadata: fc.constantFrom<NewMetadata | undefined>(
      undefined,
      { is_trial: true },
      { features: { sso: true }, order: 'A-1' },
    ),
  }),
  activate: weighted(6, 'keys.activate', { kind: fc.constant('activate'), key: number, hostId, tag }),
  sign: weighted(4, 'keys.sign', {
    kind: fc.constant('sign'),
    key: number,
    hostId,
    ttl: fc.constantFrom(null, 60, 3_600, 86_400_000),
  }),
  deactivate: weighted(3, 'keys.deactivate', { kind: fc.constant('deactivate'), key: number, hostId: hostOrNone }),
  rebind: weighted(3, 'keys.rebind', { kind: fc.constant('rebind'), key: number, hostId, newHostId: hostId, tag }),
  checkout: weighted(5, 'keys.checkout', { kind: fc.constant('checkout'), key: number, hostId: hostOrNone }),
  heartbeat: weighted(5, 'keys.heartbeat', { kind: fc.constant('heartbeat'), ...signed }),
  checkin: weighted(2, 'keys.checkin', { kind: fc.constant('checkin'), ...signed }),
  releaseSession: weighted(1, 'sessions.delete', { kind: fc.constant('releaseSession'), session: number }),
  update: weighted(4, 'keys.update', {
    kind: fc.constant('update'),
    key: number,
    seen,
    force: fc.boolean(),
    customer: fc.oneof(fc.constant(null), fc.constant(null), fc.constant<'nobody'>('nobody'), number),
    changes: fc.record(
      {
        maxActivations: limit,
        expires: fc.constantFrom<Span | null>(...ends),
        grace: fc.constantFrom<Span | null>(null, ...spans),
        allowedHosts,
        licenseType: fc.constantFrom<'node-locked' | 'floating'>('node-locked', 'floating'),
        maxSessions: limit,
        leaseSeconds,
        metadata: fc.constantFrom<MetadataChange>(
          { is_trial: false },
          { features: { sso: null, sync: 3 } },
          { order: 'A-2' },
          { order: null, is_trial: true },
        ),
      },
      { requiredKeys: [] },
    ),
  }),
  renew: weighted(2, 'keys.renew', {
    kind: fc.constant('renew'),
    key: number,
    seen,
    span,
    from: fc.constantFrom<'end' | 'now' | 'later' | null>('end', 'now', 'later', null),
  }),
  transfer: weighted(2, 'keys.transfer', {
    kind: fc.constant('transfer'),
    key: number,
    seen,
    customer: fc.oneof(
      fc.record({ kind: fc.constant('nobody') }),
      fc.record({ kind: fc.constant('given'), number }),
      fc.record({ kind: fc.constant('new'), email }),
    ),
  }),
  block: weighted(2, 'keys.block', { kind: fc.constant('block'), key: number, seen, isBlocked: fc.boolean() }),
  deleteKey: weighted(1, 'keys.delete', { kind: fc.constant('deleteKey'), key: number, seen, force: fc.boolean() }),
  updateCustomer: weighted(2, 'customers.update', {
    kind: fc.constant('updateCustomer'),
    customer: number,
    active: fc.constantFrom(null, true, false),
    email,
  }),
  createCustomer: weighted(2, 'customers.create', { kind: fc.constant('createCustomer'), email }),
  deleteCustomer: weighted(1, 'customers.delete', { kind: fc.constant('deleteCustomer'), customer: number }),
  setProduct: weighted(1, 'products.update', {
    kind: fc.constant('setProduct'),
    product: number,
    active: fc.boolean(),
  }),
  advance: weighted(2, null, { kind: fc.constant('advance'), span: fc.constantFrom<Span>(...steps) }),
  /** To one of the next ends of something, or a millisecond before or after it. */
  advanceTo: weighted(3, null, {
    kind: fc.constant('advanceTo'),
    end: fc.nat({ max: 3 }),
    by: fc.constantFrom(-1, 0, 1),
  }),
  /** A request that was sent before, under the same idempotency key; or another one under its key. */
  repeat: weighted(2, null, {
    kind: fc.constant('repeat'),
    sent: number,
    asAnother: fc.nat({ max: 4 }).map((n) => n === 0),
  }),
};

type AnyOperation = (typeof kinds)[keyof typeof kinds]['arbitrary'] extends fc.Arbitrary<infer O> ? O : never;

/** A kind that comes `weight` times as often as one of weight 1, and the operation of the contract that it calls. */
function weighted<T>(weight: number, operation: string | null, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return { weight, operation, arbitrary: fc.record(fields) };
}

/** An operation, and whether it is sent under an idempotency key. */
export interface Move {
  readonly operation: Operation;
  readonly isKeyed: boolean;
}

const offered = Object.values(kinds).filter(({ operation }) => operation === null || isOffered(operation));

/** Sequences of operations. */
export const sequences = fc.noBias(
  fc.array(fc.record<Move>({ operation: fc.oneof(...offered), isKeyed: fc.boolean() }), {
    minLength: 1,
    maxLength: 40,
    size: 'max',
  }),
);
