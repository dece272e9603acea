import { deepStrictEqual, partialDeepStrictEqual } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { apiErrors, type Reason } from '../../src/contract/errors.ts';
import { cleanUp } from '../../src/server/jobs/cleanup.ts';
import type { Engine } from '../support/engines.ts';
import { type Answer, createWorld, type Parsed, PEER, type World } from '../support/world.ts';
import { type Move, type Operation, type RequestKind, sequences } from './operations.ts';
import { block, deleteKey, reissue, renew, revoke, transfer, update } from './rules/changes.ts';
import { createCustomer, deleteCustomer, setProduct, updateCustomer } from './rules/customers.ts';
import { activate, deactivate, rebind, sign } from './rules/devices.ts';
import { create, customerViewOf, viewOf } from './rules/keys.ts';
import { freeOnPage, link, unlink } from './rules/links.ts';
import { createPlan, updatePlan } from './rules/plans.ts';
import { checkin, checkout, heartbeat, releaseSession } from './rules/sessions.ts';
import { trial } from './rules/trials.ts';
import { addressOf, isNamed, refusals, textsOf } from './rules/use.ts';
import { type Key, liveSessions, type Model, pick, type Refusal, type Step, type StoredAnswer } from './state.ts';
import { instantAt, later } from './time.ts';

const STARTED_AT = Date.parse('2026-01-30T10:00:00.000Z');

/** The request that sends an operation, and what the service has to do with it; null where there is nothing to name in it. */
const rules: { [K in RequestKind]: (model: Model, operation: Operation<K>) => Step | null } = {
  ...{ create, activate, sign, deactivate, rebind, checkout, heartbeat, checkin, releaseSession },
  ...{ update, renew, transfer, block, revoke, reissue, deleteKey },
  ...{ createPlan, updatePlan, trial },
  ...{ createCustomer, updateCustomer, deleteCustomer, setProduct, link, unlink, freeOnPage },
};

/** Told of each answer: what was asked, and its status with the code of a refusal. */
type Count = (request: string, outcome: string) => void;

/** What a check found: how many sequences agreed, and the shortest that did not. */
export interface Checked {
  readonly sequences: number;
  /** Requests, each with what the service answered, and then the difference; null when there is none. */
  readonly difference: string | null;
  /** How often each request was answered in which way. */
  readonly outcomes: ReadonlyMap<string, number>;
}

/** Plays random sequences in one database, each with products of its own, until one differs from the model. */
export async function checkSequences(
  engine: Engine,
  { runs, seed, path }: { runs: number; seed: number; path?: string | undefined },
): Promise<Checked> {
  await using world = await createWorld({ engine, perMinute: 1e9, lookupsPerMinute: null, behindProxy: [PEER] });
  let played = 0;
  const outcomes = new Map<string, number>();
  const count: Count = (request, outcome) => {
    const name = `${request} → ${outcome}`;
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  };
  const property = fc.asyncProperty(sequences, async (moves) => {
    played += 1;
    // Their clock may have been ahead, and a list of sessions looks through all that have not ended.
    await world.sql('delete from sessions');
    await play(world, `s${played}`, moves, count);
  });
  const found = await fc.check(property, { numRuns: runs, seed, ...(path !== undefined && { path }) });
  const again = `again, alone: --seed ${seed} --path ${found.counterexamplePath}`;
  const difference = found.failed ? `${messageOf(found.errorInstance)}\n${again}` : null;
  return { sequences: found.numRuns, difference, outcomes };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Plays a sequence in a world and beside it in a model. Throws at a difference, and says what happened until then. */
async function play(world: World, name: string, moves: readonly Move[], count: Count): Promise<void> {
  const now = STARTED_AT;
  const model: Model = {
    ...{ name, now, products: [], customers: [], keys: [], plans: [], sent: [] },
    ...{ trials: new Map(), answers: new Map() },
  };
  world.setNow(instantAt(STARTED_AT));
  for (let index = 0; index < 2; index += 1) {
    model.products.push({ id: (await world.product(`${name}-${index}`)).id, active: true });
  }
  const log: string[] = [];
  const player = createPlayer(world, model, { note: (line) => log.push(line), count });
  try {
    for (const move of [...trialPlans, ...moves]) await player.move(move);
    for (const key of model.keys) await player.compare(key);
  } catch (error) {
    throw new Error(`${log.join('\n')}\n\n${messageOf(error)}`, { cause: error });
  }
}

/** Each product has one from the start. */
const trialPlans = [{ maxActivations: 1 }, { licenseType: 'floating', maxSessions: 2 } as const].map(
  (own, product): Move => {
    const terms = { ...own, isTrial: true, duration: { months: 1 }, features: { sso: false, seats: 5 } };
    return { operation: { kind: 'createPlan', product, name: 0, terms }, isKeyed: false };
  },
);

interface Listener {
  note(line: string): void;
  readonly count: Count;
}

function createPlayer(world: World, model: Model, { note, count }: Listener) {
  async function move({ operation, isKeyed }: Move): Promise<void> {
    if (operation.kind === 'advance') return setTime(later(model.now, operation.span));
    if (operation.kind === 'advanceTo')
      return setTime((pick(endsOf(model), operation.end) ?? model.now) + operation.by);
    if (operation.kind === 'repeat') return repeat(operation);
    const plan = rules[operation.kind] as (model: Model, operation: Operation) => Step | null;
    const step = plan(model, operation);
    if (step !== null)
      await send(step, isKeyed && step.form === undefined ? `${model.name}-${model.sent.length}` : null);
  }

  async function setTime(next: number): Promise<void> {
    if (next <= model.now) return;
    model.now = next;
    note(`it is ${instantAt(next)}`);
    world.setNow(instantAt(next));
    await cleanUp(world.store, next, { record: world.record, due: 'daily' });
    for (const [key, { at }] of model.answers) if (at < later(next, { days: -1 })) model.answers.delete(key);
  }

  async function repeat({ sent, asAnother }: Operation<'repeat'>): Promise<void> {
    const earlier = pick(model.sent, sent);
    if (earlier === undefined) return;
    const other = pick(model.sent, sent + 1);
    await send((asAnother ? other : earlier)?.step ?? earlier.step, earlier.idempotencyKey);
  }

  async function send(step: Step, idempotencyKey: string | null): Promise<void> {
    const { method, path, body, form, as = 'admin' } = step;
    const stored = idempotencyKey === null ? undefined : model.answers.get(idempotencyKey);
    const expected = step.predict();
    const explained = stored === undefined ? await explain(step) : null;
    const headers = idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey };
    const answer = await (form ? submit(path, form) : world.call(as, method, path, body, headers));
    note(
      `${as} ${method} ${path} ${JSON.stringify(form ?? body) ?? ''} ${idempotencyKey ?? ''} → ${answer.status} ${answer.text.slice(0, 200)}`,
    );

    count(`${method} ${form ? 'a page' : path.replace(/\?.*/, '')}`, outcomeOf(answer, stored !== undefined));
    if (stored !== undefined) {
      if (stored.fingerprint !== fingerprintOf(step))
        return partialDeepStrictEqual({ ...answer.body, status: answer.status }, refusals.keyReused);
      if (!isShownTo(stored, step)) {
        // Who may not move a slot is told that first.
        const refusal = path === '/key/rebind' ? { status: 403 } : refusals.notAllowed;
        return partialDeepStrictEqual({ ...answer.body, status: answer.status }, refusal);
      }
      const replayed = { status: answer.status, text: answer.text, mark: answer.headers['idempotency-replayed'] };
      return deepStrictEqual(replayed, { status: stored.status, text: stored.text, mark: 'true' });
    }
    if (explained !== null) compareExplanation(explained, answer);
    if ('apply' in expected) {
      const { status, body, apply } = expected;
      partialDeepStrictEqual({ status: answer.status, body: answer.body }, { status, body });
      apply(answer.body);
    } else {
      deepStrictEqual({ status: answer.status, code: answer.body.code }, expected);
    }
    if (idempotencyKey !== null) {
      const { status, text } = answer;
      model.answers.set(idempotencyKey, { fingerprint: fingerprintOf(step), as, status, text, at: model.now });
      model.sent.push({ step, idempotencyKey });
    }
    for (const key of step.touched()) await compare(key);
  }

  /** Sends a form to a page, from any address: each has few requests a minute. */
  function submit(path: string, form: Readonly<Record<string, string>>): Promise<Answer> {
    const address = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`;
    return world.send(path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { 'X-Forwarded-For': address },
    });
  }

  /** Asks whether a step would be allowed, before it is made. */
  async function explain({ why, as = 'admin' }: Step): Promise<Answer | null> {
    if (why === undefined) return null;
    return world.call(as, 'GET', `/key/why?${new URLSearchParams(why)}`);
  }

  /** Reads a licence and compares the whole of it. */
  async function compare(key: Key): Promise<void> {
    const query = new URLSearchParams(addressOf(key, key.text));
    const { status, body } = await world.call('admin', 'GET', `/key?${query}`);
    deepStrictEqual({ status, code: body.code }, key.isDeleted ? refusals.notFound : { status: 200, code: 0 });
    if (key.isDeleted) return compareDeleted(key);
    const { license, customer } = body.data;
    key.id = license.id;
    for (const device of key.devices) device.id = license.devices.find(isOfHost(device.hostId))?.id;
    if (key.customer?.id === '') key.customer.id = customer?.id;
    const { devices: expected, ...view } = viewOf(key);
    const members = ['hostId', 'deviceTag', 'activationTime', 'lastSeenOn'];
    deepStrictEqual(sorted(license.devices, ...members), sorted(expected, ...members));
    deepStrictEqual(customer, customerViewOf(key));
    partialDeepStrictEqual(license, view);
    deepStrictEqual(license.metadata, view.metadata);
    compareChange(key, Date.parse(license.updatedAt));
    const sessions = await world.call('admin', 'GET', `/session/list?${query}`);
    const live = liveSessions(key, model.now).map((one) => ({ ...one, expiresAt: instantAt(one.expiresAt) }));
    deepStrictEqual(sorted(sessions.body.data, 'id', 'hostId', 'expiresAt'), sorted(live, 'id', 'hostId', 'expiresAt'));
    await compareImport(key, key.text, refusals.keyTaken);
    for (const { text } of key.previous) await comparePrevious(key, text, { license, sessions: sessions.body.data });
  }

  /** Asks for a licence by a text that it had before. */
  async function comparePrevious(key: Key, text: string, { license, sessions }: Parsed): Promise<void> {
    const address = addressOf(key, text);
    const query = new URLSearchParams(address);
    const works = isNamed(key, text, model.now);
    const [whole, masked, listed] = [
      await world.call('admin', 'GET', `/key?${query}`),
      await world.call('client', 'GET', `/key?${query}`),
      await world.call('admin', 'GET', `/session/list?${query}`),
    ];
    deepStrictEqual(whole.body.data?.license, license);
    deepStrictEqual([masked.status, masked.text.includes(key.text)], [works ? 200 : 404, false]);
    deepStrictEqual(listed.body.data, works ? sessions : []);
    await compareImport(key, text, refusals.keyTaken);
  }

  /** The texts of a deleted licence are free again, unless it was revoked. */
  async function compareDeleted(key: Key): Promise<void> {
    for (const text of textsOf(key)) {
      await compareImport(key, text, key.revoked ? refusals.keyRevoked : { status: 200, code: 0 });
      if (!key.revoked) await world.call('admin', 'DELETE', `/key?${new URLSearchParams(addressOf(key, text))}`);
    }
  }

  /** Imports a text as it may be typed. */
  async function compareImport(key: Key, text: string, expected: Refusal): Promise<void> {
    const typed = { productId: key.product.id, key: text.toLowerCase() };
    const { status, body } = await world.call('admin', 'POST', '/key/import', typed);
    deepStrictEqual({ status, code: body.code }, expected);
  }

  return { move, compare };
}

interface Rule {
  readonly passed: boolean;
}

/** The explanation that was given before has to agree with what happened. */
function compareExplanation(explained: Answer, answer: Answer): void {
  const outcome = { status: answer.status, code: answer.body.code };
  if (explained.status === 404) deepStrictEqual(outcome, refusals.notFound);
  // That a file needs an end is a matter of the request, not of the licence.
  if (explained.status === 404 || answer.status === 400) return;
  const { allowed, rules } = explained.body.data;
  const failed: { readonly reason: Reason } | undefined = rules.find(({ passed }: Rule) => !passed);
  deepStrictEqual([allowed, failed === undefined], [answer.status === 200, answer.status === 200]);
  if (failed === undefined) return;
  const { status, code } = apiErrors[failed.reason];
  deepStrictEqual(outcome, { status, code }, `the explanation is ${failed.reason}`);
}

function outcomeOf({ status, body }: Answer, isKnown: boolean): string {
  const outcome = body?.code ? `${status}/${body.code}` : String(status);
  return isKnown ? `again ${outcome}` : outcome;
}

/** These members of each, in the order of the first: what is of one millisecond is listed in any order. */
const sorted = (list: readonly object[], ...names: readonly string[]): string[] =>
  list.map((one) => JSON.stringify(names.map((name) => Reflect.get(one, name)))).sort();

/** Compares the instant of the last change with what has happened since it was read last. */
function compareChange(key: Key, updatedAt: number): void {
  const { change } = key;
  const after = updatedAt - key.updatedAt;
  const isRight = { none: after === 0, devices: after >= 0, terms: after > 0 }[change];
  if (!isRight) throw new Error(`after ${change} changed, updatedAt is ${after} ms later`);
  if (updatedAt !== key.updatedAt) key.earlier.push(key.updatedAt);
  key.updatedAt = updatedAt;
  key.change = 'none';
}

/** What is to come, the next first: ends of licences and leases, and of the time for which answers are kept. */
function endsOf({ keys, answers, now }: Model): number[] {
  const ends = [
    ...keys.flatMap(({ expiresAt, sessions }) => [expiresAt ?? 0, ...sessions.map((session) => session.expiresAt)]),
    ...keys.flatMap(({ previous }) => previous.map(({ until }) => until)),
    ...[...answers.values()].map(({ at }) => later(at, { days: 1 })),
  ];
  return ends.filter((end) => end > now).sort((a, b) => a - b);
}

const isOfHost =
  (host: string) =>
  ({ hostId }: Parsed): boolean =>
    hostId === host;

/** Whether a stored answer goes to who repeats the request: a client gets no success that was made for an admin, but a file. */
const isShownTo = (stored: StoredAnswer, { as = 'admin', path }: Step): boolean =>
  as === 'admin' || stored.as === as || stored.status >= 300 || ['/key/sign', '/deactivate-key'].includes(path);

const fingerprintOf = ({ method, path, body }: Step): string => JSON.stringify([method, path, body]);
