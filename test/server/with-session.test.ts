import { expect, it, vi } from 'vitest';
import { createClient, withSession } from '../../src/index.ts';
import { noon } from '../client/fake-timing.ts';
import { manualTiming } from '../client/manual-timing.ts';
import { createWorld } from '../support/world.ts';

const MINUTE = 60_000;

/** A server with a floating key of one seat, a client of kind `client`, and one clock for both. */
async function shop() {
  const world = await createWorld({ now: new Date(noon).toISOString() });
  const listener = await world.listen();
  const timing = manualTiming();
  const token = (await world.tokenOf('client')) ?? '';
  const client = createClient({ baseUrl: listener.url, token });
  const { id: productId } = await world.product();
  const licenseKey = await world.key({ productId, licenseType: 'floating', maxConcurrentSessions: 1 });
  const list = async () => (await world.call('admin', 'GET', '/session/list')).body.data;
  const pass = async (ms: number) => {
    world.setNow(new Date(timing.now() + ms).toISOString());
    await timing.pass(ms);
  };
  const close = async () => {
    await listener.close();
    await world[Symbol.asyncDispose]();
  };
  return { world, client, address: { productId, licenseKey }, timing, list, pass, [Symbol.asyncDispose]: close };
}

it('a session is kept alive by a server as long as the work takes, and its seat is free afterwards', async () => {
  await using at = await shop();
  const ends: string[] = [];
  const result = await withSession(
    at.client,
    { ...at.address, hostId: 'host-1' },
    async ({ sessionId, signal }) => {
      for (const expected of ['12:20', '12:25', '12:30', '12:35']) {
        await at.pass(5 * MINUTE);
        const [session] = await vi.waitFor(async () => {
          const found = await at.list();
          expect(found).toMatchObject([
            { id: sessionId, hostId: 'host-1', expiresAt: expect.stringContaining(expected) },
          ]);
          return found;
        });
        ends.push(session.expiresAt);
      }
      const refused = withSession(at.client, at.address, () => 'a second seat');
      await expect(refused).rejects.toMatchObject({ reason: 'sessionLimit' });
      return signal.aborted;
    },
    { timing: at.timing },
  );
  expect(result).toBe(false);
  expect(ends).toHaveLength(4);
  expect(await at.list()).toEqual([]);
  expect(await withSession(at.client, at.address, () => 'the seat again')).toBe('the seat again');
});
