import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AccountId } from '../../src/contract/scalars.ts';
import { newId } from '../../src/domain/ids.ts';
import { toInstant } from '../../src/domain/time.ts';
import { openStore } from '../../src/store/store.ts';
import { openBadClients } from '../bad-clients.ts';
import { underLoad } from '../load.ts';
import { fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { makeWorld } from '../world.ts';

const WRITERS = 6;

/** What a list of all customers is long by. */
const CUSTOMERS = 5_000;

/** Shorter than those of a server without options, so that a round takes seconds. */
const SETUP = { connections: { stallMs: 2_000 }, drainMs: 3_000 };

/** On top of what the server waits for: it first fills what the system takes in for each, some MB. */
const CLOSING_MS = 45_000;

/** The same for its end, on a busy machine. */
const STOPPING_MS = 5_000;

/** A server that is left alone takes 150 of them; each of the others costs it up to one response, and the rest is garbage. */
const MAX_MEMORY_MIB = 512;

/** Clients that take no responses beside some that work: nothing of it is theirs to notice. */
export const unreadAnswers: Scenario = {
  name: 'unread-answers',
  about: 'clients that never read, send half a request or nothing, beside writers; then the server is stopped',
  engines: ['sqlite'],
  controls: [
    ['unbounded-connections', 'sqlite'],
    ['endless-drain', 'sqlite'],
  ],
  share: 2,
  shortRounds: 2,
  lacks: () => (process.platform === 'linux' ? null : 'only Linux tells the memory of another process'),
  // With a list that does not fit into the buffers of a connection.
  async newWorld(engine, cluster) {
    const world = await makeWorld(engine, cluster);
    const store = await openStore(world.db);
    const accountId = world.accountId as AccountId;
    const now = toInstant(Date.now());
    await store.transaction(async ({ customers }) => {
      for (let index = 0; index < CUSTOMERS; index += 1) {
        await customers.insert({ accountId, id: newId('cus', now, randomBytes(10)), name: 'given', email: null, now });
      }
    });
    await store.close();
    return world;
  },
  begin:
    () =>
    async ({ stage, report, random, index }) => {
      const { ledger, world } = stage;
      const server = await stage.start({ ...SETUP, isTls: index % 2 === 1 });
      await underLoad(ledger, random, { clients: WRITERS, route: stage.url }, async () => {
        const { unsettled } = ledger;
        const clients = await openBadClients(server.url, world.token, random);
        try {
          const unclosed = await clients.unclosed(SETUP.connections.stallMs + CLOSING_MS);
          if (unclosed > 0) fail(report, 'wrong', `${unclosed} connections that read nothing were not closed`);
          if (ledger.unsettled > unsettled) fail(report, 'wrong', 'a writer was not answered');
          const memory = peakMemoryMib(server.pid);
          if (memory > MAX_MEMORY_MIB) fail(report, 'wrong', `the server took ${memory} MiB`);
          if (!(await server.stop(SETUP.drainMs + STOPPING_MS))) fail(report, 'wrong', 'the server did not stop');
        } finally {
          clients.destroy();
        }
        await stage.start();
      });
      await stage.servers[0]?.kill();
    },
};

/** The most memory that a process has had at one time (proc_pid_status(5), VmHWM). */
function peakMemoryMib(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1_024);
}
