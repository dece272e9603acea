import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { payloadSchema } from '../../../src/contract/openapi/webhooks.ts';
import { RETRY_SECONDS } from '../../../src/domain/webhooks/outcome.ts';
import { isSignedBy } from '../../../src/domain/webhooks/signature.ts';
import { deliveryCleanupJob } from '../../../src/server/jobs/deliveries.ts';
import { secondsLater as at, createDeliveryWorld, silent } from '../../support/deliveries.ts';
import { engines } from '../../support/engines.ts';
import { testsOn } from '../../support/fixtures.ts';
import { type Received, startReceiver } from '../../support/receiver.ts';
import { STARTED_AT } from '../../support/world.ts';

const CREATED = { types: ['customer.created'] };
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe.each(engines)('deliveries on $name', (engine) => {
  const it = testsOn(engine);

  it('send each event once, with its number, signed', async ({ it, receiver }) => {
    const { id, secret } = await it.webhook(receiver.url);
    await it.happen(40);
    await it.deliver();
    await it.deliver();
    expect(receiver.seqs.toSorted((a, b) => a - b)).toEqual(range(1, 41));
    const { headers, text, event } = receiver.received.find(({ event }) => event.seq === 2) ?? {};
    expect(event).toEqual({
      ...{ id: expect.stringMatching(/^evt_/), seq: 2, type: 'customer.created', api_version: '2026-11-21' },
      ...{ created_at: STARTED_AT, resource_type: 'customer', resource_id: expect.stringMatching(/^cus_/) },
      ...{ actor: { type: 'token', id: expect.any(String) }, request_id: expect.any(String), data: {} },
    });
    expect(payloadSchema('customer.created').safeParse(event).error).toBeUndefined();
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': event.id });
    const message = { id: event.id, timestamp: Number(headers?.['webhook-timestamp']), body: text ?? '' };
    expect(isSignedBy(message, headers?.['webhook-signature'] ?? '', [secret])).toBe(true);
    expect(message.timestamp).toBe(Date.parse(STARTED_AT) / 1_000);
    expect(await it.show(id)).toMatchObject({ lastSeq: 41, failingSince: null });
    expect((await it.deliveries(id)).map(({ seq, state, status, attempts }) => [seq, state, status, attempts])).toEqual(
      range(1, 41)
        .reverse()
        .map((seq) => [seq, 'delivered', 204, 1]),
    );
  });

  it('are signed in the forms that the webhook says, from the moment it says so', async ({ it, receiver }) => {
    const { id, secret } = await it.webhook(receiver.url, { ...CREATED, signatures: ['standard', 'timestamped'] });
    const names = ['webhook-signature', 'lkm-signature'];
    /** The headers with signatures that the next event is sent with. */
    const sent = async () => {
      await it.happen(1);
      await it.deliver();
      const headers = receiver.received.at(-1)?.headers ?? {};
      expect(headers).toMatchObject({ 'webhook-id': expect.any(String), 'webhook-timestamp': expect.any(String) });
      return names.filter((name) => name in headers);
    };
    const update = (signatures: readonly string[]) =>
      it.world.call('admin', 'PUT', `/webhook/by-id?webhookId=${id}`, { signatures });
    expect(await sent()).toEqual(names);
    const { headers, text } = receiver.received.at(-1) as Received;
    const time = headers['webhook-timestamp'];
    const hex = createHmac('sha256', Buffer.from(secret, 'utf8')).update(`${time}.${text}`).digest('hex');
    expect(headers['lkm-signature']).toBe(`t=${time},v1=${hex}`);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const base64 = createHmac('sha256', key).update(`${headers['webhook-id']}.${time}.${text}`).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${base64}`);
    await update(['timestamped']);
    expect(await sent()).toEqual(['lkm-signature']);
    await update(['standard']);
    expect(await sent()).toEqual(['webhook-signature']);
  });

  it('have a timestamped signature by each secret while two sign, the new one first', async ({ it, receiver }) => {
    const made = await it.webhook(receiver.url, { ...CREATED, signatures: ['timestamped'] });
    const { body } = await it.world.call('admin', 'POST', '/webhook/rotate', { webhookId: made.id, overlap: 60 });
    /** How the next event is signed by each of the secrets, and how it should be. */
    const sent = async (seconds: number, secrets: readonly string[]) => {
      await it.happen(1);
      await it.deliver(seconds);
      const { headers, text } = receiver.received.at(-1) as Received;
      const time = headers['webhook-timestamp'];
      const hex = (secret: string) => createHmac('sha256', secret).update(`${time}.${text}`).digest('hex');
      expect(headers['lkm-signature']).toBe(`t=${time},${secrets.map((one) => `v1=${hex(one)}`).join(',')}`);
    };
    await sent(59, [body.data.secret, made.secret]);
    await sent(60, [body.data.secret]);
  });

  it('hold the types that are wanted, and pings for this webhook alone', async ({ it, receiver }) => {
    await using other = await startReceiver();
    const { id } = await it.webhook(receiver.url, { types: ['product.created'] });
    await it.webhook(other.url, { types: ['ping', 'product.created'] });
    await it.happen(2);
    await it.world.product();
    await it.world.call('admin', 'POST', '/webhook/test', { webhookId: id });
    await it.deliver();
    expect(receiver.received.map(({ event }) => event.type)).toEqual(['product.created', 'ping']);
    expect(other.received.map(({ event }) => event.type)).toEqual(['product.created']);
    expect(await it.show(id)).toMatchObject({ lastSeq: 6 });
  });

  it('show keys masked, and in full only where that was asked for', async ({ it }) => {
    await using masked = await startReceiver();
    await using whole = await startReceiver();
    await it.webhook(masked.url, { types: ['license.created', 'license.deleted'] });
    const { id } = await it.webhook(whole.url, { types: ['license.created', 'license.deleted'], reveal: true });
    const { id: productId } = await it.world.product();
    const licenseKey = await it.world.key({ productId });
    whole.answer({ status: 200, body: `thank you for ${licenseKey}, me@example.com, whsec_abcdefgh12345678` });
    await it.deliver();
    expect(masked.received.map(({ event }) => event.data.key)).toEqual([
      `${'*****-'.repeat(4)}${licenseKey.slice(-5)}`,
    ]);
    expect(whole.received.map(({ event }) => event.data.key)).toEqual([licenseKey]);
    expect((await it.deliveries(id)).map(({ answer }) => answer)).toEqual([
      'thank you for [hidden], [hidden], [hidden]',
    ]);
    const query = new URLSearchParams({ productId, licenseKey });
    await it.world.call('admin', 'DELETE', `/key?${query}`);
    await it.deliver();
    expect(whole.received.at(-1)?.event.data.key).toBe(`${'*****-'.repeat(4)}${licenseKey.slice(-5)}`);
  });

  it('are repeated on the schedule with the same id and body, at the last interval for ever', async ({
    it,
    receiver,
  }) => {
    const { id } = await it.webhook(receiver.url, CREATED);
    // One that accepts others in between, so that it is not disabled.
    receiver.answer((response, { headers }) => response.writeHead(headers['webhook-id'] === failing ? 500 : 204).end());
    let failing = '';
    await it.happen(1);
    const [event] = (await it.world.call('admin', 'GET', '/event/list?after=1')).body.data;
    failing = event.id;
    const attempts = () => receiver.received.filter(({ event }) => event.id === failing);
    let elapsed = 0;
    const last = RETRY_SECONDS.at(-1) ?? 0;
    for (const [index, seconds] of [0, ...RETRY_SECONDS, last, last, last].entries()) {
      if (seconds > 0) {
        await it.deliver(elapsed + seconds - 1);
        expect(attempts()).toHaveLength(index);
        await it.happen(1);
      }
      elapsed += seconds;
      await it.deliver(elapsed);
      expect(attempts()).toHaveLength(index + 1);
    }
    expect(new Set(attempts().map(({ headers, text }) => `${headers['webhook-id']} ${text}`)).size).toBe(1);
    const waiting = { seq: 2, state: 'waiting', attempts: 13, status: 500, error: 'answered 500' };
    expect((await it.deliveries(id)).at(-1)).toMatchObject({ ...waiting, nextAttemptAt: at(elapsed + last) });
    receiver.answer(200);
    await it.deliver(elapsed + last);
    expect((await it.deliveries(id)).at(-1)).toMatchObject({ seq: 2, state: 'delivered', attempts: 14 });
  });

  it.each([
    ['a refused connection', 'nothing listens there', null],
    ['a reset', 'connection reset', (response) => response.socket?.resetAndDestroy()],
    ['a receiver that hangs', 'no complete response within 0.3 s', () => {}],
    ['a response that drips', 'no complete response within 0.3 s', (response) => response.writeHead(200).write('.')],
    [
      'a receiver that dies in the middle of its response',
      'response broken off',
      (response) => {
        response.writeHead(200, { 'content-length': '10' }).write('.', () => response.destroy());
      },
    ],
    [
      'a redirect',
      'answered 302: redirects are not followed',
      (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
  ] satisfies [string, string, ((response: import('node:http').ServerResponse) => void) | null][])(
    'are repeated after %s',
    async (_, error, answer) => {
      await using it = await createDeliveryWorld(engine, { timeoutMs: 300 });
      await using receiver = await startReceiver();
      if (answer === null) await receiver[Symbol.asyncDispose]();
      else receiver.answer(answer);
      const { id } = await it.webhook(receiver.url, CREATED);
      await it.happen(1);
      await it.deliver();
      expect(await it.deliveries(id)).toMatchObject([{ state: 'waiting', error, nextAttemptAt: at(5) }]);
      expect(await it.show(id)).toMatchObject({ failingSince: STARTED_AT, active: true, waiting: 1, lastError: error });
    },
  );

  it('read no more of a long answer than they keep', async ({ it, receiver }) => {
    let sent = 0;
    receiver.answer((response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('long word '.repeat(1_000))) sent += 10_000;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    const { id } = await it.webhook(receiver.url, CREATED);
    await it.happen(1);
    await it.deliver();
    const [delivery] = await it.deliveries(id);
    expect(delivery).toMatchObject({ state: 'delivered' });
    expect(delivery?.answer?.length).toBeLessThanOrEqual(1_024);
    expect(sent).toBeLessThan(20_000_000);
  });

  it('wait as long as the receiver asks, with everything', async ({ it, receiver }) => {
    await it.webhook(receiver.url, CREATED);
    receiver.answer([{ status: 429, headers: { 'retry-after': '3600' } }]);
    await it.happen(1);
    await it.deliver();
    await it.happen(1);
    await it.deliver(3_599);
    expect(receiver.seqs).toEqual([2]);
    await it.deliver(3_600);
    expect(receiver.seqs.toSorted()).toEqual([2, 2, 3]);
  });

  it('end with 410, with an event for the other webhooks', async ({ it, receiver }) => {
    await using other = await startReceiver();
    const { id } = await it.webhook(receiver.url);
    await it.webhook(other.url, { types: ['webhook.disabled'] });
    receiver.answer(410);
    await it.happen(20);
    await it.deliver();
    const sent = receiver.received.length;
    await it.happen(1);
    await it.deliver();
    expect(receiver.received).toHaveLength(sent);
    expect(await it.show(id)).toMatchObject({ active: false, disabledAt: STARTED_AT, disabledReason: 'gone' });
    expect(other.received.map(({ event }) => [event.type, event.resource_id, event.data, event.actor])).toEqual([
      ['webhook.disabled', id, { reason: 'gone', failingSince: STARTED_AT }, { type: 'job', id: 'deliveries' }],
    ]);

    receiver.answer(200);
    await it.world.call('admin', 'PUT', `/webhook/by-id?webhookId=${id}`, { active: true });
    await it.deliver(60);
    const head = (await it.world.call('admin', 'GET', '/event/list?after=2147483647')).body.meta.last;
    expect([...new Set(receiver.seqs)].toSorted((a, b) => a - b)).toEqual(range(1, head));
  });

  it('go to the new address, which what the old one answers meanwhile says nothing of', async ({ it, receiver }) => {
    await using next = await startReceiver();
    const { id } = await it.webhook(receiver.url, CREATED);
    receiver.answer(async (response) => {
      await it.world.call('admin', 'PUT', `/webhook/by-id?webhookId=${id}`, { url: next.url });
      response.writeHead(410).end();
    });
    await it.happen(1);
    await it.deliver();
    await it.deliver();
    expect(receiver.received).toHaveLength(1);
    expect(await it.show(id)).toMatchObject({ url: next.url, active: true, disabledReason: null, failingSince: null });
    expect(next.received.map(({ event }) => event.id)).toEqual(receiver.received.map(({ event }) => event.id));
  });

  it('go on when a clock that was years ahead is put right', async ({ it, receiver }) => {
    it.setNow(at(365 * 86_400));
    const { id } = await it.webhook(receiver.url, { ordered: true });
    receiver.answer([{ status: 503, headers: { 'retry-after': '60' } }]);
    await it.deliver();
    await it.deliver(0);
    expect(receiver.seqs).toEqual([1]);
    const { store } = it.world;
    const job = deliveryCleanupJob({ now: () => STARTED_AT });
    await job.run({ transaction: store.transaction, signal: new AbortController().signal, log: silent });
    await it.deliver();
    expect(receiver.seqs).toEqual([1, 1]);
    expect(await it.show(id)).toMatchObject({ lastSeq: 1, failingSince: null });
  });

  it('come one after the other where order was asked for, and never overtake one that failed', async ({
    it,
    receiver,
  }) => {
    const { id } = await it.webhook(receiver.url, { ...CREATED, ordered: true });
    receiver.answer([200, 200, 500, 500]);
    await it.happen(30);
    await it.deliver();
    expect(receiver.seqs).toEqual([2, 3, 4]);
    await it.deliver(6);
    await it.deliver(305);
    expect(receiver.seqs).toEqual([2, 3, 4, 4]);
    await it.deliver(400);
    expect(receiver.seqs).toEqual([2, 3, 4, 4, ...range(4, 31)]);
    expect(await it.show(id)).toMatchObject({ lastSeq: 31, failingSince: null });
  });

  it('go to each webhook as fast as it takes them', async () => {
    await using it = await createDeliveryWorld(engine, { timeoutMs: 60_000 });
    await using slow = await startReceiver();
    await using fast = await startReceiver();
    slow.answer(() => {});
    await it.webhook(slow.url, CREATED);
    await it.webhook(fast.url, CREATED);
    await it.happen(50);
    await it.deliverer.dispatch();
    await expect.poll(() => fast.received).toHaveLength(50);
    await it.deliverer.stop();
  });

  it('are signed with both secrets while one takes over from the other', async ({ it, receiver }) => {
    const { id, secret: old } = await it.webhook(receiver.url, CREATED);
    const rotated = await it.world.call('admin', 'POST', '/webhook/rotate', { webhookId: id, overlap: 60 });
    const { secret } = rotated.body.data;
    const signedBy = async () => {
      await it.happen(1);
      await it.deliver();
      const { headers = {}, text = '' }: Partial<Received> = receiver.received.at(-1) ?? {};
      const [id = '', timestamp, signature = ''] = ['id', 'timestamp', 'signature'].map((n) => headers[`webhook-${n}`]);
      const message = { id, timestamp: Number(timestamp), body: text };
      return [isSignedBy(message, signature, [old]), isSignedBy(message, signature, [secret])];
    };
    expect(await signedBy()).toEqual([true, true]);
    it.setNow(at(60));
    expect(await signedBy()).toEqual([false, true]);
  });

  it('are taken over from a server that has died, and repeated with the same ids', async ({ it, receiver }) => {
    const { id } = await it.webhook(receiver.url, CREATED);
    await it.happen(5);
    let died = () => {};
    const dead = it.another({
      // It sends, and never comes to keep that it has.
      sender: { send: ({ body }) => new Promise(() => void fetch(receiver.url, { method: 'POST', body }).then(died)) },
    });
    const sent = new Promise<void>((resolve) => {
      died = resolve;
    });
    await dead.dispatch();
    await sent;
    await it.deliver();
    expect(await it.deliveries(id)).toEqual([]);
    const later = it.another({ realTime: () => at(16) });
    await later.dispatch();
    await later.idle();
    expect(new Set(receiver.seqs)).toEqual(new Set(range(2, 6)));
    expect((await it.deliveries(id)).map(({ seq }) => seq)).toEqual([6, 5, 4, 3, 2]);
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(5);
  });

  it('are handed on by a server that stops', async () => {
    await using it = await createDeliveryWorld(engine, { timeoutMs: 10_000 });
    await using receiver = await startReceiver();
    const { id } = await it.webhook(receiver.url, CREATED);
    receiver.answer(() => {});
    await it.happen(3);
    const stopping = it.another();
    await stopping.dispatch();
    await expect.poll(() => receiver.received).toHaveLength(3);
    await stopping.stop();
    expect(await it.deliveries(id)).toMatchObject(range(1, 3).map(() => ({ state: 'waiting', attempts: 0 })));
    receiver.answer(200);
    await it.deliver();
    expect(await it.deliveries(id)).toMatchObject(range(1, 3).map(() => ({ state: 'delivered', attempts: 1 })));
    expect(new Set(receiver.received.map(({ event }) => event.id)).size).toBe(3);
  });

  it('go back to an earlier event while others are on their way', async ({ it, receiver }) => {
    const { id } = await it.webhook(receiver.url, CREATED);
    await it.happen(3);
    receiver.answer([
      async (response) => {
        await it.world.call('admin', 'POST', '/webhook/replay', { webhookId: id, after: 0 });
        response.writeHead(200).end();
      },
    ]);
    await it.deliver();
    await it.deliver();
    expect(receiver.seqs.toSorted()).toEqual([2, 2, 3, 3, 4, 4]);
    expect(await it.show(id)).toMatchObject({ lastSeq: 4 });
  });

  it('are shared by servers, each event with one of them', async ({ it, receiver }) => {
    const { id } = await it.webhook(receiver.url, CREATED);
    await it.happen(60);
    const servers = [it.deliverer, it.another(), it.another()];
    await Promise.all(servers.map((server) => server.dispatch()));
    await Promise.all(servers.map((server) => server.idle()));
    expect(receiver.seqs.toSorted((a, b) => a - b)).toEqual(range(2, 61));
    expect(await it.deliveries(id)).toHaveLength(60);
  });

  it('are due at once after a new URL, after --active, and after a ping that was accepted', async ({
    it,
    receiver,
  }) => {
    const { id } = await it.webhook(receiver.url, CREATED);
    const update = (body: object) => it.world.call('admin', 'PUT', `/webhook/by-id?webhookId=${id}`, body);
    const ping = () => it.world.call('admin', 'POST', '/webhook/test', { webhookId: id });
    let pauses = 0;
    for (const { goOn, ordered } of [
      { goOn: () => update({ url: `${receiver.url}?another` }), ordered: false },
      { goOn: () => update({ active: true }), ordered: false },
      { goOn: () => update({ active: true }), ordered: true },
      { goOn: ping, ordered: false },
    ]) {
      await update({ ordered });
      receiver.answer({ status: 429, headers: { 'retry-after': '80000' } });
      await it.happen(3);
      await it.deliver();
      expect(await it.show(id)).toMatchObject({ pausedUntil: at(80_000), waiting: 3, lastError: 'answered 429' });
      receiver.answer(204);
      const before = receiver.received.length;
      await it.deliver();
      expect(receiver.received).toHaveLength(before);
      await goOn();
      await it.deliver();
      await it.deliver();
      expect(await it.show(id)).toMatchObject({ pausedUntil: null, waiting: 0, lastError: null, failingSince: null });
      pauses += 1;
    }
    expect(pauses).toBe(4);
  });

  it('stay as they are after a ping that was refused', async ({ it, receiver }) => {
    const { id } = await it.webhook(receiver.url, CREATED);
    receiver.answer({ status: 429, headers: { 'retry-after': '80000' } });
    await it.happen(1);
    await it.deliver();
    receiver.answer(500);
    await it.world.call('admin', 'POST', '/webhook/test', { webhookId: id });
    await it.deliver();
    expect(receiver.received).toHaveLength(2);
    expect(await it.show(id)).toMatchObject({ pausedUntil: at(80_000), waiting: 2, lastError: 'answered 500' });
  });

  it('are no longer repeated once their type is not wanted', async ({ it, receiver }) => {
    const { id } = await it.webhook(receiver.url, { types: ['customer.created', 'product.created'] });
    receiver.answer(500);
    await it.happen(2);
    const product = await it.world.product();
    await it.deliver();
    receiver.answer(204);
    await it.world.call('admin', 'PUT', `/webhook/by-id?webhookId=${id}`, { types: ['product.created'] });
    const before = receiver.received.length;
    await it.deliver(60);
    expect(receiver.received.slice(before).map(({ event }) => event.resource_id)).toEqual([product.id]);
    expect(await it.show(id)).toMatchObject({ waiting: 0, lastError: null });
  });

  it('do not wait for one that hangs: a place that is free takes the next event', async () => {
    await using it = await createDeliveryWorld(engine, { timeoutMs: 30_000 });
    await using receiver = await startReceiver();
    await it.webhook(receiver.url, CREATED);
    receiver.answer((response, _request) => {
      if (receiver.received.length % 20 !== 1) response.writeHead(204).end();
    });
    await it.happen(100);
    await it.deliverer.dispatch();
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(100);
    // Also an event that comes while the others hang.
    await it.happen(1);
    await it.deliverer.dispatch();
    await expect.poll(() => receiver.received.length).toBe(101);
    expect(new Set(receiver.seqs).size).toBe(101);
    await it.deliverer.stop();
  });

  it('keep their lease while a server works, and not for long after it has died', async () => {
    let passed = 0;
    const realTime = () => {
      passed += 0.001;
      return at(passed);
    };
    await using it = await createDeliveryWorld(engine, { timeoutMs: 30_000, parts: { leaseSeconds: 0.3, realTime } });
    await using receiver = await startReceiver();
    receiver.answer(() => {});
    const { id } = await it.webhook(receiver.url, CREATED);
    await it.happen(1);
    const until = async () => (await it.world.store.repositories.webhooks.find(it.world.accounts.acme, id))?.leaseUntil;
    await it.deliverer.dispatch();
    await expect.poll(() => receiver.received.length).toBe(1);
    const first = (await until()) ?? '';
    await expect.poll(until).toSatisfy((later) => typeof later === 'string' && later > first);
    const other = it.another();
    await other.dispatch();
    await other.idle();
    expect(receiver.received).toHaveLength(1);
    await it.deliverer.stop();
  });

  it('are counted while they are not accepted, with the oldest event among them', async () => {
    await using it = await createDeliveryWorld(engine, { parts: { schedule: [60] } });
    await using receiver = await startReceiver();
    const { deliveries } = it.world.store.repositories;
    const backlog = async () => {
      const { oldest, ...counts } = await deliveries.backlog();
      return { ...counts, oldest: oldest.map((content): number => JSON.parse(content).seq) };
    };
    expect(await backlog()).toEqual({ waiting: 0, oldest: [] });
    await it.webhook(receiver.url);
    await it.webhook(receiver.url, { active: false });
    receiver.answer([204, 500, 204]);
    await it.deliver();
    expect(await backlog()).toEqual({ waiting: 1, oldest: [2] });
    await it.happen(3);
    expect(await backlog()).toEqual({ waiting: 4, oldest: [2] });
  });
});
