import { deepStrictEqual, partialDeepStrictEqual } from 'node:assert/strict';
import { cleanUp } from '../../src/server/jobs/cleanup.ts';
import type { World } from '../support/world.ts';
import type { Move, Operation } from './operations.ts';
import { planStep } from './rules/index.ts';
import { customerViewOf, viewOf } from './rules/keys.ts';
import { refusals } from './rules/use.ts';
import { isRefusal, type Key, type KeyedStep, type Model, newModel, pick, type Step } from './state.ts';
import { instantAt, later } from './time.ts';

const DAWN = Date.parse('2026-01-30T10:00:00.000Z');

/** A difference between the service and the model, with what happened until then. */
export class Difference extends Error {
  override readonly name = 'Difference';
}

/** Plays a sequence in a world and beside it in a model. Throws {@link Difference}. */
export async function play(world: World, name: string, moves: readonly Move[]): Promise<void> {
  const model = newModel(name, DAWN);
  world.setNow(instantAt(DAWN));
  for (let index = 0; index < 2; index += 1) {
    model.products.push({ id: (await world.product(`${name}-${index}`)).id, active: true });
  }
  const log: string[] = [];
  const player = createPlayer(world, model, (line) => log.push(line));
  try {
    for (const move of moves) await player.move(move);
    for (const key of model.keys) await player.compare(key);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Difference(`${log.join('\n')}\n\n${reason}`, { cause: error });
  }
}

function createPlayer(world: World, model: Model, note: (line: string) => void) {
  async function move({ operation, isKeyed }: Move): Promise<void> {
    if (operation.kind === 'advance') return setTime(later(model.now, operation.span));
    if (operation.kind === 'advanceTo')
      return setTime((pick(endsOf(model), operation.end) ?? model.now) + operation.by);
    if (operation.kind === 'repeat') return repeat(operation);
    const step = planStep(model, operation);
    if (step === null) return;
    await send(step, isKeyed ? `${model.name}-${model.sent.length}` : null);
  }

  async function setTime(next: number): Promise<void> {
    if (next <= model.now) return;
    model.now = next;
    note(`it is ${instantAt(next)}`);
    world.setNow(instantAt(next));
    await cleanUp(world.store, next);
    for (const [key, { at }] of model.answers) if (at < later(next, { days: -1 })) model.answers.delete(key);
  }

  async function repeat({ sent, asAnother }: Operation<'repeat'>): Promise<void> {
    const earlier = pick(model.sent, sent);
    if (earlier === undefined) return;
    const other = pick(model.sent, sent + 1);
    await send((asAnother ? other : earlier)?.step ?? earlier.step, earlier.idempotencyKey);
  }

  async function send(step: Step, idempotencyKey: string | null): Promise<void> {
    const { method, path, body } = step.request;
    const stored = idempotencyKey === null ? undefined : model.answers.get(idempotencyKey);
    const expected = step.predict();
    const headers = idempotencyKey === null ? {} : { 'Idempotency-Key': idempotencyKey };
    const answer = await world.call('admin', method, path, body, headers);
    note(
      `${method} ${path} ${JSON.stringify(body) ?? ''} ${idempotencyKey ?? ''} → ${answer.status} ${answer.text.slice(0, 200)}`,
    );

    if (stored !== undefined) {
      if (stored.fingerprint !== fingerprintOf(step))
        return partialDeepStrictEqual({ ...answer.body, status: answer.status }, refusals.keyReused);
      const replayed = { status: answer.status, text: answer.text, mark: answer.headers['idempotency-replayed'] };
      return deepStrictEqual(replayed, { status: stored.status, text: stored.text, mark: 'true' });
    }
    if (isRefusal(expected)) {
      deepStrictEqual({ status: answer.status, code: answer.body.code }, expected);
    } else {
      partialDeepStrictEqual(
        { status: answer.status, body: answer.body },
        { status: expected.status, body: expected.body },
      );
      expected.apply(answer.body);
    }
    if (idempotencyKey !== null) {
      const { status, text } = answer;
      model.answers.set(idempotencyKey, { fingerprint: fingerprintOf(step), status, text, at: model.now });
      model.sent.push({ step, idempotencyKey });
    }
    for (const key of step.touched()) await compare(key);
  }

  /** Reads a licence and compares the whole of it. */
  async function compare(key: Key): Promise<void> {
    const query = new URLSearchParams({ productId: key.product.id, licenseKey: key.text });
    const { status, body } = await world.call('admin', 'GET', `/key?${query}`);
    if (key.isDeleted) return deepStrictEqual({ status, code: body.code }, refusals.notFound);
    deepStrictEqual({ status, code: body.code }, { status: 200, code: 0 });
    const { license, customer } = body.data;
    if (key.customer?.id === '') key.customer.id = customer?.id;
    const { devices: expected, ...view } = viewOf(key);
    const devices = license.devices.map(deviceOf);
    deepStrictEqual(
      { devices: byHost(devices), customer },
      { devices: byHost(expected), customer: customerViewOf(key) },
    );
    const times = devices.map(({ activationTime }: Device) => activationTime);
    deepStrictEqual(times, times.toSorted());
    partialDeepStrictEqual(license, view);
    partialDeepStrictEqual(Object.keys(license.metadata).sort(), Object.keys(view.metadata).sort());
  }

  return { move, compare };
}

interface Device {
  readonly hostId: string;
  readonly deviceTag: string;
  readonly activationTime: string;
}

const deviceOf = ({ hostId, deviceTag, activationTime }: Device): Device => ({ hostId, deviceTag, activationTime });

/** By host: those of one millisecond are listed in any order. */
const byHost = (devices: readonly Device[]): Device[] => devices.toSorted((a, b) => (a.hostId < b.hostId ? -1 : 1));

/** What is to come: ends of licences and leases, and of the time for which answers are kept. */
function endsOf({ keys, answers, now }: Model): number[] {
  const ends = [
    ...keys.flatMap(({ expiresAt, sessions }) => [expiresAt ?? 0, ...sessions.map((session) => session.expiresAt)]),
    ...[...answers.values()].map(({ at }) => later(at, { days: 1 })),
  ];
  return ends.filter((end) => end >= now);
}

const fingerprintOf = ({ request: { method, path, body } }: KeyedStep['step']): string =>
  JSON.stringify([method, path, body]);
