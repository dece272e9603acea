import fc from 'fast-check';
import type { Span } from './time.ts';

const number = fc.nat({ max: 11 });
const hostId = fc.constantFrom('host-a', 'host-b', 'host-c');
const hostOrNone = fc.option(hostId, { freq: 4 });
const spans: readonly Span[] = [{ seconds: 1 }, { seconds: 300 }, { days: 1 }, { months: 1 }, { months: 12 }];
const steps: readonly Span[] = [...spans, { seconds: 100 }, { seconds: 1_000 }];
/** Ends of licences: mostly ones that leave time for more. */
const ends = [null, null, { months: 12 }, { months: 12 }, ...spans, { seconds: 0 }, { seconds: -1 }] as const;
const grace = fc.constantFrom(null, null, ...spans);
/** Whose token asks. */
const by = fc.constantFrom('admin', 'client', 'client', 'client');
const tag = fc.constantFrom(null, null, 'Anna');
const email = fc.option(fc.nat({ max: 2 }));
/** What the caller has seen of the licence before it changes it: nothing, its last instant of change, or an earlier one. */
const seen = fc.constantFrom('nothing', 'nothing', 'last', 'earlier');
const onKey = { key: number };
const change = { key: number, seen };
/** Short ones of what there may be. */
const limit = fc.option(fc.integer({ min: 1, max: 3 }), { freq: 3 });
const leaseSeconds = fc.constantFrom(300, 900);
const someHosts = fc.uniqueArray(hostId, { minLength: 1, maxLength: 2 });
const allowedHosts = fc.oneof(fc.constant(null), fc.constant(null), someHosts);
const customer = fc.oneof(
  fc.record({ kind: fc.constant('nobody') }),
  fc.record({ kind: fc.constant('given'), number }),
  fc.record({ kind: fc.constant('new'), email }),
);
const signed = {
  session: fc.nat({ max: 4 }),
  /** Which of the texts of its key names it. */
  text: fc.nat({ max: 2 }),
  /** Which nonce is signed: the current one, the last one, or one that was never given. */
  nonce: fc.constantFrom('current', 'current', 'current', 'last', 'other'),
  isForged: fc.nat({ max: 7 }).map((n) => n === 0),
};

/** Entries of metadata by name; in a change null removes one. */
interface Metadata {
  readonly features?: Readonly<Record<string, boolean | number | null>>;
  readonly is_trial?: boolean;
  readonly order?: string | null;
}

/** What a plan says of keys and of their features; in a change null removes a feature. */
const terms = {
  maxActivations: limit,
  duration: fc.constantFrom<Span | null>(null, ...spans),
  fromFirstUse: fc.constantFrom(false, false, true),
  grace,
  isTrial: fc.constantFrom(false, false, true),
  licenseType: fc.constantFrom('node-locked', 'floating'),
  maxSessions: limit,
  leaseSeconds,
  features: fc.constantFrom<NonNullable<Metadata['features']>>({ sso: false, seats: 5 }, { sync: 3 }, { seats: null }),
} as const;
const planName = fc.nat({ max: 3 });
/** Mostly a plan of the product. */
const ofOtherProduct = fc.nat({ max: 7 }).map((n) => n === 0);

/** Each kind of operation: how often it comes, and what it is made of; numbers stand for what there is then, counted round. */
const kinds = {
  create: kind(5, {
    product: number,
    plan: fc.option(number, { freq: 2 }),
    ofOtherProduct,
    /** Whether what has no limit is sent as null, and the type as well, rather than left to the plan. */
    isExplicit: fc.boolean(),
    reference: fc.constantFrom(null, null, 0, 1),
    customer,
    maxActivations: limit,
    /** Undefined: the default. */
    expires: fc.constantFrom<Span | null | undefined>(undefined, ...ends),
    expiresAfter: fc.constantFrom(...Array<null>(25).fill(null), ...spans),
    grace,
    /** Undefined: the default. */
    selfReset: fc.constantFrom(undefined, undefined, true, false),
    /** Null: node-locked; 0: without limit. */
    maxSessions: fc.option(fc.nat({ max: 3 }), { freq: 2 }),
    leaseSeconds,
    allowedHosts,
    metadata: fc.constantFrom<Metadata | undefined>(
      undefined,
      { is_trial: true },
      { features: { sso: true }, order: 'A-1' },
    ),
  }),
  createPlan: kind(1, { product: number, name: planName, terms: fc.record(terms, { requiredKeys: [] }) }),
  updatePlan: kind(2, {
    plan: number,
    changes: fc.record({ ...terms, name: planName, active: fc.boolean() }, { requiredKeys: [] }),
  }),
  trial: kind(6, {
    plan: fc.constantFrom(0, 0, 0, 0, 1, 2, 3),
    ofOtherProduct,
    hostId: fc.constantFrom('host-a', 'host-a', 'host-a', 'host-b'),
    by,
    tag,
  }),
  activate: kind(7, { ...onKey, by, hostId, tag }),
  sign: kind(4, { ...onKey, by, hostId, ttl: fc.constantFrom(null, 60, 3_600, 86_400_000) }),
  deactivate: kind(6, { ...onKey, by, hostId: hostOrNone }),
  rebind: kind(4, { ...onKey, by, hostId, newHostId: hostId, tag }),
  checkout: kind(7, { ...onKey, hostId: hostOrNone }),
  heartbeat: kind(5, signed),
  checkin: kind(2, signed),
  releaseSession: kind(1, { session: fc.nat({ max: 4 }) }),
  update: kind(4, {
    ...change,
    force: fc.boolean(),
    plan: fc.oneof(fc.constantFrom('nothing', 'nothing', 'none', 'own'), number),
    customer: fc.oneof(fc.constant(null), fc.constant(null), fc.constant('nobody'), number),
    changes: fc.record(
      {
        maxActivations: limit,
        expires: fc.constantFrom<Span | null>(...ends),
        grace,
        allowedHosts,
        selfReset: fc.boolean(),
        licenseType: fc.constantFrom('node-locked', 'floating'),
        maxSessions: limit,
        leaseSeconds,
        metadata: fc.constantFrom<Metadata>(
          { is_trial: false },
          { features: { sso: null, sync: 3 } },
          { order: 'A-2' },
          { order: null, is_trial: true },
        ),
      },
      { requiredKeys: [] },
    ),
  }),
  renew: kind(2, { ...change, span: fc.constantFrom(...spans), from: fc.constantFrom('end', 'now', 'later', null) }),
  transfer: kind(2, { ...change, customer }),
  block: kind(2, { ...change, isBlocked: fc.boolean() }),
  revoke: kind(1, { ...change, reason: fc.constantFrom(null, 'refunded', 'fraud') }),
  reissue: kind(3, {
    /** Few, so that some are named anew again and again. */
    ...{ key: fc.nat({ max: 3 }), seen },
    /** Null: the default. */
    overlap: fc.constantFrom<Span | null>(null, ...spans, ...Array<Span>(3).fill({ seconds: 0 })),
  }),
  deleteKey: kind(1, { ...change, force: fc.boolean() }),
  updateCustomer: kind(2, { customer: number, active: fc.constantFrom(null, true, false), email }),
  createCustomer: kind(2, { email }),
  deleteCustomer: kind(1, { customer: number }),
  // These are of use to machines alone, below.
  link: kind(0, { customer: number, seconds: fc.constantFrom(60, 3_600, 604_800) }),
  unlink: kind(0, { customer: number }),
  /** Mostly on the page of the customer of the key. */
  freeOnPage: kind(0, {
    ...{ key: number, hostId, link: fc.constantFrom(0, 0, 0, 1) },
    isForeign: fc.nat({ max: 15 }).map((n) => n === 0),
  }),
  setProduct: kind(1, { product: number, active: fc.boolean() }),
  advance: kind(2, { span: fc.constantFrom<Span>(...steps) }),
  /** To one of the next ends of something, or a millisecond before or after it. */
  advanceTo: kind(3, { end: fc.nat({ max: 3 }), by: fc.constantFrom(-1, 0, 1) }),
  /** A request that was sent before, under the same idempotency key; or another one under its key. */
  repeat: kind(2, { sent: number, asAnother: fc.nat({ max: 4 }).map((n) => n === 0) }),
};

/** A kind that comes `weight` times as often as one of weight 1. */
function kind<const T>(weight: number, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return { weight, arbitrary: fc.record(fields) };
}

type Kind = keyof typeof kinds;

/** One operation of a sequence, of the kind `K`. */
export type Operation<K extends Kind = Kind> = {
  [P in K]: { readonly kind: P } & Generated<(typeof kinds)[P]['arbitrary']>;
}[K];

type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** The kinds that send a new request; the others move the clock, or send an earlier request again. */
export type RequestKind = Exclude<Kind, 'advance' | 'advanceTo' | 'repeat'>;

/** An operation, and whether it is sent under an idempotency key. */
export interface Move {
  readonly operation: Operation;
  readonly isKeyed: boolean;
}

type Kinds = Readonly<Partial<Record<Kind, { readonly weight: number; readonly arbitrary: fc.Arbitrary<object> }>>>;

function movesOf(kinds: Kinds, length = { minLength: 1, maxLength: 40 }): fc.Arbitrary<Move[]> {
  const operations = Object.entries(kinds).map(([kind, { weight, arbitrary }]) => ({
    weight,
    arbitrary: arbitrary.map((fields) => ({ kind, ...fields }) as Operation),
  }));
  return fc.array(fc.record<Move>({ operation: fc.oneof(...operations), isKeyed: fc.boolean() }), {
    ...length,
    size: 'max',
  });
}

const { activate, sign, deactivate, rebind, transfer, link, unlink, freeOnPage, advance, repeat } = kinds;

const machineChanges = {
  maxActivations: limit,
  selfReset: fc.constantFrom(true, true, true, false),
  allowedHosts: fc.constantFrom<string[] | null>(null, null, null, ['host-a', 'host-b'], ['host-c']),
};

/** What happens to a key that stays usable: its limit changes, and whether its customer may move slots. */
const update = kind(1, {
  ...{ key: number, seen: fc.constant('nothing'), force: fc.boolean(), plan: fc.constant('nothing') },
  ...{ customer: fc.constant(null), changes: fc.record(machineChanges, { requiredKeys: [] }) },
});

/** A key of few slots, which machines come to and leave: among all that may happen, few of them meet. */
const machines = fc
  .tuple(
    fc.record({ maxActivations: fc.constantFrom(1, 2), selfReset: fc.constantFrom(undefined, undefined, false) }),
    movesOf(
      {
        ...{ activate: { ...activate, weight: 20 }, deactivate: { ...deactivate, weight: 30 }, rebind, sign, update },
        ...{ transfer: { ...transfer, weight: 1 }, freeOnPage: { ...freeOnPage, weight: 15 }, advance, repeat },
        ...{ link: { ...link, weight: 1 }, unlink: { ...unlink, weight: 1 } },
      },
      { minLength: 40, maxLength: 80 },
    ),
  )
  .map(([limits, moves]): Move[] => {
    const issued = {
      kind: 'create',
      product: 0,
      customer: { kind: 'new', email: null },
      expires: null,
      isExplicit: true,
    } as const;
    const plain = {
      plan: null,
      ofOtherProduct: false,
      reference: null,
      metadata: undefined,
      allowedHosts: null,
    } as const;
    const endless = { expiresAfter: null, grace: null, maxSessions: null, leaseSeconds: 900 } as const;
    const linked = { kind: 'link', customer: 0, seconds: 604_800 } as const;
    return [
      { operation: { ...issued, ...plain, ...endless, ...limits }, isKeyed: false },
      { operation: linked, isKeyed: false },
      ...moves,
    ];
  });

/** Sequences of operations. */
export const sequences = fc.noBias(
  fc.oneof({ weight: 2, arbitrary: movesOf(kinds) }, { weight: 1, arbitrary: machines }),
);
