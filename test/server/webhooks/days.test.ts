import { describe, expect } from 'vitest';
import { deliveryCleanupJob, webhookHealthJob } from '../../../src/server/jobs/deliveries.ts';
import { secondsLater as at, type DeliveryWorld, silent } from '../../support/deliveries.ts';
import { engines } from '../../support/engines.ts';
import { testsOn } from '../../support/fixtures.ts';
import type { Received } from '../../support/receiver.ts';

const [HOUR, DAY, WEEK] = [3_600, 86_400, 604_800];
const SIX_HOURS = 6 * HOUR;
const away = 500;

/** Runs the jobs that a server runs, at the time of the world. */
async function runJobs({ world }: DeliveryWorld, seconds: number): Promise<void> {
  const now = () => at(seconds) as never;
  const context = { transaction: world.store.transaction, signal: new AbortController().signal, log: silent };
  await webhookHealthJob({ now, record: world.record, log: silent, onRecorded: () => {} }).run(context);
  await deliveryCleanupJob({ now }).run(context);
}

/** Lets time pass in steps, with an event every so often; null for none. */
async function live(it: DeliveryWorld, from: number, to: number, every: number | null): Promise<void> {
  const step = every === null ? SIX_HOURS : Math.min(every, SIX_HOURS);
  for (let time = from; time < to; time += step) {
    it.setNow(at(time));
    if (every !== null && (time - from) % every === 0) await it.happen(1);
    await it.deliver(time);
    await runJobs(it, time);
  }
}

const update = (it: DeliveryWorld, id: string, body: object) =>
  it.world.call('admin', 'PUT', `/webhook/by-id?webhookId=${id}`, body);

/** The ids of the customers' events of the record, by number. */
async function recorded({ world }: DeliveryWorld): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  for (let after = 0; ; ) {
    const { body } = await world.call('admin', 'GET', `/event/list?limit=1000&type=customer.created&after=${after}`);
    for (const { seq, id } of body.data) ids.set(seq, id);
    if (body.meta.last === after) return ids;
    after = body.meta.last;
  }
}

const accepted = (received: readonly Received[]) => new Map(received.map(({ event }) => [event.seq, event.id]));

describe.each(engines)('a receiver that is away on $name', (engine) => {
  const it = testsOn(engine);

  for (const days of [1, 4, 6, 20]) {
    for (const [traffic, every] of [
      ['an event each hour', HOUR],
      ['an event each week', WEEK],
      ['one event, and then none', null],
    ] as const) {
      for (const ordered of [false, true]) {
        it(`misses nothing after ${days} days, with ${traffic}, ${ordered ? 'in order' : 'in any order'}`, async ({
          it,
          receiver,
        }) => {
          const { id } = await it.webhook(receiver.url, { types: ['customer.created'], ordered });
          receiver.answer(away);
          await it.happen(1);
          const end = days * DAY;
          await live(it, 0, end, every);
          const shown = await it.show(id);
          expect(shown).toMatchObject({ active: days < 5, lastError: 'answered 500' });
          const expected = await recorded(it);
          expect(shown.waiting).toBe(expected.size);

          receiver.answer(204);
          const before = receiver.received.length;
          await it.deliver(end + 2 * DAY);
          if (days > 5) {
            expect(receiver.received).toHaveLength(before);
            await update(it, id, { active: true });
            await it.deliver(end + 2 * DAY);
          }
          const sent = receiver.received.slice(before);
          expect(accepted(sent)).toEqual(expected);
          expect(sent).toHaveLength(expected.size);
          if (ordered) expect(sent.map(({ event }) => event.seq)).toEqual([...expected.keys()]);
          expect(await it.show(id)).toMatchObject({ failingSince: null, lastError: null, waiting: 0 });
        });
      }
    }
  }

  it('is disabled after five days by the clock, counted from the first failure since one that was accepted', async ({
    it,
    receiver,
  }) => {
    const { id } = await it.webhook(receiver.url, { types: ['customer.created'] });
    await it.happen(1);
    await it.deliver(DAY);
    receiver.answer(away);
    it.setNow(at(2 * DAY));
    await it.happen(1);
    await live(it, 2 * DAY, 7 * DAY, null);
    await it.deliver(7 * DAY - 1);
    await runJobs(it, 7 * DAY - 1);
    expect(await it.show(id)).toMatchObject({ active: true, failingSince: at(2 * DAY) });
    it.setNow(at(7 * DAY));
    await it.deliver(7 * DAY);
    await runJobs(it, 7 * DAY);
    expect(await it.show(id)).toMatchObject({ active: false, disabledReason: 'failing', disabledAt: at(7 * DAY) });
    await it.world.sequence();
    const { body } = await it.world.call('admin', 'GET', '/event/list?type=webhook.disabled');
    expect(body.data).toMatchObject([{ resource_id: id, data: { reason: 'failing', failingSince: at(2 * DAY) } }]);
    expect((await it.deliveries(id)).map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([null, null]);
  });

  it('is sent what happened in the last 30 days, or what is asked for', async ({ it, receiver }) => {
    const { id } = await it.webhook(receiver.url, { types: ['customer.created'] });
    receiver.answer(away);
    await live(it, 0, 40 * DAY, DAY);
    receiver.answer(204);
    it.setNow(at(40 * DAY));
    const all = [...(await recorded(it)).keys()];
    expect(all).toHaveLength(40);
    const sent = async (body: object) => {
      const before = receiver.received.length;
      const updated = await update(it, id, { active: true, ...body });
      await it.deliver();
      const { status } = updated;
      return { status, seqs: receiver.seqs.slice(before).toSorted((a, b) => a - b) };
    };
    expect(await it.show(id)).toMatchObject({ active: false, waiting: 30 });
    expect(await sent({})).toEqual({ status: 200, seqs: all.slice(10) });
    const seq = all[4] ?? 0;
    await update(it, id, { active: false });
    expect(await sent({ from: seq })).toEqual({ status: 200, seqs: all.slice(4) });
    await update(it, id, { active: false });
    await it.happen(2);
    expect(await sent({ from: 'now' })).toEqual({ status: 200, seqs: [] });
    expect(await sent({ from: 5_000 })).toEqual({ status: 409, seqs: [] });
    await it.happen(1);
    await it.deliver();
    expect(receiver.seqs.at(-1)).toBeGreaterThan(all.at(-1) ?? 0);
  });
});
