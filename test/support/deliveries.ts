import type { Instant } from '../../src/contract/scalars.ts';
import type { Delivery, Webhook } from '../../src/contract/webhooks.ts';
import { addSeconds } from '../../src/domain/time.ts';
import type { DeliveryParts } from '../../src/server/webhooks/deliver.ts';
import { createDeliverer } from '../../src/server/webhooks/deliverer.ts';
import { createSender, type Sender } from '../../src/server/webhooks/send.ts';
import type { Engine } from './engines.ts';
import { bodyOf, createWorld, STARTED_AT } from './world.ts';

/** A world whose webhooks are sent when the test says so, at the time that it says. */
export type DeliveryWorld = Awaited<ReturnType<typeof createDeliveryWorld>>;

/** Makes such a world. */
export async function createDeliveryWorld(
  engine: Engine,
  options: { readonly timeoutMs?: number; readonly sender?: Sender; readonly parts?: Partial<DeliveryParts> } = {},
) {
  const world = await createWorld({ engine, allowPrivateWebhooks: true });
  const sender = options.sender ?? createSender({ allowPrivate: true, timeoutMs: options.timeoutMs ?? 10_000 });
  let now: Instant = STARTED_AT;
  let leases = 0;
  /** Another server on the same database. */
  const another = (more: Partial<DeliveryParts> = {}) =>
    createDeliverer(
      {
        store: world.store,
        log: silent,
        record: world.record,
        sender,
        onRecorded: () => {},
        now: () => now,
        realTime: () => STARTED_AT,
        random: (length) => new Uint8Array(length),
        ...options.parts,
        ...more,
      },
      () => {
        leases += 1;
        return `lease ${leases}`;
      },
    );
  const deliverer = another();
  const setNow = (instant: string) => {
    now = instant as Instant;
    world.setNow(instant);
  };
  return {
    world,
    deliverer,
    another,
    setNow,
    /** Makes a webhook of acme. */
    webhook: async (url: string, more: object = {}): Promise<{ readonly id: string; readonly secret: string }> => {
      const { data } = bodyOf(await world.call('admin', 'POST', '/webhook', { url, ...more }));
      await world.sequence();
      return data;
    },
    /** Records events, one for each customer, and numbers them. */
    happen: async (count: number) => {
      for (let index = 0; index < count; index += 1) await world.customer();
      await world.sequence();
    },
    /** Numbers what there is, and sends what is due, until nothing is: now, or so many seconds after the start. */
    deliver: async (seconds?: number) => {
      if (seconds !== undefined) setNow(secondsLater(seconds));
      await world.sequence();
      await deliverer.dispatch();
      await deliverer.idle();
    },
    show: async (id: string): Promise<Webhook> =>
      (await world.call('admin', 'GET', `/webhook/by-id?webhookId=${id}`)).body.data,
    /** The last one first. */
    deliveries: async (id: string): Promise<readonly Delivery[]> =>
      (await world.call('admin', 'GET', `/webhook/deliveries?webhookId=${id}`)).body.data,
    async [Symbol.asyncDispose]() {
      await deliverer.stop();
      sender.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** The instant so many seconds after the start of a world. */
export const secondsLater = (seconds: number): Instant => addSeconds(STARTED_AT, seconds);

/** A log that keeps nothing. */
export const silent = { info: () => {}, warn: () => {}, error: () => {} } as unknown as DeliveryParts['log'];
