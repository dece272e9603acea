import { createHmac } from 'node:crypto';
import type { Random } from '../../faults/random.ts';
import { createTestClock, startServer, type TestClock } from '../../src/server/index.ts';
import { type Answer, readAnswer } from '../support/world.ts';

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

interface Address {
  readonly productId: string;
  readonly licenseKey: string;
}

interface Service extends AsyncDisposable {
  /** Sends a request to one of the servers. */
  send(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<Answer>;
  createLicense(): Promise<Address>;
  countSessions(address: Address): Promise<number>;
}

async function openService(db: string, count: number, clock: TestClock, random: Random): Promise<Service> {
  const options = { db, clock, host: '127.0.0.1', port: 0, logFormat: 'none', rateLimit: null } as const;
  const first = await startServer({ ...options, logTo: { write: () => {} } });
  const servers = [first];
  while (servers.length < count) servers.push(await startServer({ ...options, logTo: { write: () => {} } }));
  const token = first.created?.adminToken;
  const send: Service['send'] = async (method, path, body, headers) =>
    readAnswer(
      await fetch(random.pick(servers).url + path, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  return {
    send,
    createLicense: async () => {
      const productId = (await send('POST', '/product', { name: 'Editor' })).body.data.id;
      const terms = { licenseType: 'floating', maxConcurrentSessions: SEATS, heartbeatInterval: 60 };
      const { body } = await send('POST', '/create-key', { productId, ...terms, sessionLeaseDuration: LEASE_SECONDS });
      return { productId, licenseKey: body.key };
    },
    countSessions: async (address) => {
      const { body } = await send('GET', `/session/list?${new URLSearchParams({ ...address })}`);
      return body.data.length;
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of servers) await server.close();
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
      const session = sessions.get(id);
      if (session !== undefined) session.end = Date.parse(expiresAt);
    },
    /** The seat was held until `asked` at least. */
    givenBack(id: string, asked: number): void {
      const session = sessions.get(id);
      if (session !== undefined) Object.assign(session, { end: asked, isGivenBack: true });
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
  readonly service: Service;
  readonly address: Address;
  readonly ledger: ReturnType<typeof createLedger>;
  readonly random: Random;
  readonly clock: TestClock;
}

interface HeldSession {
  readonly id: string;
  readonly secret: string;
  nonce: string;
  /** How many answers to heartbeats under this nonce were lost. */
  losses: number;
  /** The end of the lease as far as the client knows. */
  end: number;
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
    const { sessionId: id, sessionSecret: secret, nextNonce: nonce, expiresAt } = answer.body;
    ledger.checkedOut(id, expiresAt);
    if (oneIn(8)) {
      // The answer is lost. Half of the clients ask again; the others start anew, and their seat is held by nobody.
      if (oneIn(2)) return true;
      const again = await ask();
      if (again.text !== answer.text) ledger.wrong.push(`checkout again: ${again.status} ${again.text}`);
    }
    session = { id, secret, nonce, losses: 0, end: Date.parse(expiresAt) };
    return true;
  }

  async function sign(path: string, { id, secret, nonce }: HeldSession): Promise<Answer> {
    const signature = createHmac('sha256', secret).update(`${id}:${nonce}`).digest('hex');
    return service.send('POST', path, { ...address, sessionId: id, timestamp: nonce, signature });
  }

  async function report(held: HeldSession): Promise<void> {
    const answer = await sign('/key/heartbeat', held);
    if (answer.status === 200) {
      ledger.prolonged(held.id, answer.body.expiresAt);
      if (oneIn(6)) {
        held.losses += 1;
        return;
      }
      Object.assign(held, { nonce: answer.body.nextNonce, losses: 0, end: Date.parse(answer.body.expiresAt) });
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
    const answer = await sign('/key/checkin', held);
    session = null;
    if (answer.status === 200) ledger.givenBack(held.id, asked);
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
