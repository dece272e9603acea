import type { Random } from '../../faults/random.ts';
import { createTestClock, type TestClock } from '../../src/server/index.ts';
import { startTestServer } from '../support/server.ts';
import { type SessionKeys, signedBy } from '../support/sessions.ts';
import type { Address } from '../support/world.ts';

const CLIENTS = 50;
export const SEATS = 10;
const LEASE_SECONDS = 300;
const TICK_MS = 20_000;
const TICKS = 30;

/** What came of a fight. */
export interface Fight {
  /** The most sessions that held a seat at one instant, by what clients were answered. */
  readonly mostHeld: number;
  /** The most sessions that the service listed while all of them were at it. */
  readonly mostListed: number;
  /** Sessions whose client fell silent, so that their lease ended. */
  readonly lapsed: number;
  /** Checkouts that were refused though a seat was free. */
  readonly refusedWithFreeSeat: number;
  readonly checkouts: number;
  readonly refused: number;
  readonly heartbeats: number;
  /** Answers that no client should get. */
  readonly wrong: readonly string[];
}

/**
 * Fifty clients fight for the ten seats of a licence for ten minutes of a test clock, which goes on while their requests
 * are under way. Some fall silent for ever, some lose answers, some give their seat back.
 */
export async function fight(
  db: string,
  { servers: count, random }: { servers: number; random: Random },
): Promise<Fight> {
  const clock = createTestClock(Date.parse('2026-11-21T10:00:00.000Z'));
  await using service = await openService(db, count, clock, random);
  const address = await service.createLicense();
  const ledger = createLedger(clock);
  const clients = Array.from({ length: CLIENTS }, () => createClient({ service, address, ledger, random, clock }));
  let mostListed = 0;
  let refusedWithFreeSeat = 0;
  const countListed = async () => {
    const listed = await service.countSessions(address);
    mostListed = Math.max(mostListed, listed);
    return listed;
  };

  for (let tick = 0; tick < TICKS; tick += 1) {
    const acts = clients.map((client) => client.act());
    await Promise.all([...acts, clock.moveTo(clock.now() + TICK_MS), countListed(), countListed()]);
    // Whoever waits now gets the seats that are free.
    const free = SEATS - (await countListed());
    for (const client of clients.filter(({ isWaiting }) => isWaiting()).slice(0, free)) {
      if (!(await client.checkOut())) refusedWithFreeSeat += 1;
    }
  }
  await clock.moveTo(clock.now() + LEASE_SECONDS * 1_000);
  if ((await countListed()) !== 0) ledger.wrong.push('sessions are listed after the end of every lease');
  return { ...ledger.sum(), mostListed, refusedWithFreeSeat, wrong: ledger.wrong };
}

async function openService(db: string, count: number, clock: TestClock, random: Random) {
  const start = () => startTestServer({ db, clock, logFormat: 'none', rateLimit: null });
  const first = await start();
  const servers = [first];
  while (servers.length < count) servers.push(await start());
  const authorization = { Authorization: `Bearer ${first.adminToken}` };
  /** Sends a request to one of the servers. */
  const send = (method: string, path: string, body?: object, headers: object = {}) =>
    random.pick(servers).call(method, path, body, { ...authorization, ...headers });
  return {
    send,
    createLicense: async (): Promise<Address> => {
      const productId = (await send('POST', '/product', { name: 'Editor' })).body.data.id;
      const terms = { licenseType: 'floating', maxConcurrentSessions: SEATS, heartbeatInterval: 60 };
      const { body } = await send('POST', '/create-key', { productId, ...terms, sessionLeaseDuration: LEASE_SECONDS });
      return { productId, licenseKey: body.key };
    },
    countSessions: async (address: Address): Promise<number> => {
      const { body } = await send('GET', `/session/list?${new URLSearchParams({ ...address })}`);
      return body.data.length;
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server[Symbol.asyncDispose]();
    },
  };
}

/** What every answer has told, whether its client has got it or not. */
function createLedger(clock: TestClock) {
  const sessions = new Map<string, { readonly start: number; end: number; isGivenBack: boolean }>();
  const wrong: string[] = [];
  const counts = { checkouts: 0, refused: 0, heartbeats: 0 };
  return {
    counts,
    wrong,
    checkedOut(id: string, expiresAt: string): void {
      counts.checkouts += 1;
      // It may have begun earlier, but not later.
      sessions.set(id, { start: clock.now(), end: Date.parse(expiresAt), isGivenBack: false });
    },
    prolonged(id: string, expiresAt: string): void {
      counts.heartbeats += 1;
      Object.assign(sessions.get(id) ?? {}, { end: Date.parse(expiresAt) });
    },
    /** The seat was held until `asked` at least. */
    givenBack(id: string, asked: number): void {
      Object.assign(sessions.get(id) ?? {}, { end: asked, isGivenBack: true });
    },
    sum() {
      const all = [...sessions.values()];
      const heldAt = (at: number) => all.filter(({ start, end }) => start <= at && at < end).length;
      return {
        ...counts,
        mostHeld: Math.max(...all.map(({ start }) => heldAt(start))),
        lapsed: all.filter(({ isGivenBack }) => !isGivenBack).length,
      };
    },
  };
}

interface Surroundings {
  readonly service: Awaited<ReturnType<typeof openService>>;
  readonly address: Address;
  readonly ledger: ReturnType<typeof createLedger>;
  readonly random: Random;
  readonly clock: TestClock;
}

interface HeldSession extends SessionKeys {
  /** How many answers to heartbeats under its nonce were lost. */
  readonly losses: number;
  /** The end of the lease as far as the client knows. */
  readonly end: number;
}

function createClient({ service, address, ledger, random, clock }: Surroundings) {
  let session: HeldSession | null = null;
  let isSilent = false;
  const oneIn = (times: number) => random.below(times) === 0;

  async function checkOut(): Promise<boolean> {
    const headers = { 'Idempotency-Key': `checkout-${random.below(2 ** 30)}-${random.below(2 ** 30)}` };
    const ask = () => service.send('POST', '/key/checkout', address, headers);
    const answer = await ask();
    if (answer.status === 403 && answer.body.code === 9) ledger.counts.refused += 1;
    else if (answer.status !== 200) ledger.wrong.push(`checkout: ${answer.status} ${answer.text}`);
    if (answer.status !== 200) return false;
    const { sessionId, sessionSecret, nextNonce, expiresAt } = answer.body;
    ledger.checkedOut(sessionId, expiresAt);
    if (oneIn(8)) {
      // The answer is lost. Half of the clients ask again; the others start anew, and their seat is held by nobody.
      if (oneIn(2)) return true;
      const again = await ask();
      if (again.text !== answer.text) ledger.wrong.push(`checkout again: ${again.status} ${again.text}`);
    }
    session = { sessionId, sessionSecret, nextNonce, losses: 0, end: Date.parse(expiresAt) };
    return true;
  }

  async function report(held: HeldSession): Promise<void> {
    const answer = await service.send('POST', '/key/heartbeat', { ...address, ...signedBy(held) });
    if (answer.status === 200) {
      const { nextNonce, expiresAt } = answer.body;
      ledger.prolonged(held.sessionId, expiresAt);
      session = oneIn(6)
        ? { ...held, losses: held.losses + 1 }
        : { ...held, nextNonce, losses: 0, end: Date.parse(expiresAt) };
      return;
    }
    // A nonce is accepted twice, and a lease ends.
    const isExpected =
      (answer.status === 403 && answer.body.code === 11 && held.losses === 2) ||
      (answer.status === 404 && answer.body.code === 3 && clock.now() >= held.end);
    if (!isExpected) ledger.wrong.push(`heartbeat after ${held.losses} losses: ${answer.status} ${answer.text}`);
    session = null;
  }

  async function giveBack(held: HeldSession): Promise<void> {
    const asked = clock.now();
    const answer = await service.send('POST', '/key/checkin', { ...address, ...signedBy(held) });
    session = null;
    if (answer.status === 200) ledger.givenBack(held.sessionId, asked);
    else if (held.losses < 2) ledger.wrong.push(`checkin: ${answer.status} ${answer.text}`);
  }

  async function act(): Promise<void> {
    if (isSilent) return;
    if (session === null) await checkOut();
    else if (oneIn(25)) isSilent = true;
    else if (oneIn(12)) await giveBack(session);
    else await report(session);
  }

  return { act, checkOut, isWaiting: () => !isSilent && session === null };
}
