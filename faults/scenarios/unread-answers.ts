import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { newId } from '../../src/domain/ids.ts';
import { toInstant } from '../../src/domain/time.ts';
import { openStore } from '../../src/store/store.ts';
import { openBadClients } from '../bad-clients.ts';
import { replaySome, startLoad } from '../clients.ts';
import { countUnsettling } from '../ledger.ts';
import { fail, note } from '../report.ts';
import { inRounds, type Run, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';
import { makeWorld, type World } from '../world.ts';

const WRITERS = 6;

/** What a list of all customers is long by. */
const CUSTOMERS = 5_000;

/** Shorter than those of a server without options, so that a round takes seconds. */
const SETUP = { limits: { stallMs: 2_000 }, drainMs: 3_000 };

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
    { sabotage: 'unbounded-connections', engine: 'sqlite' },
    { sabotage: 'endless-drain', engine: 'sqlite' },
  ],
  lacks: () => (process.platform === 'linux' ? null : 'only Linux tells the memory of another process'),
  async run(run) {
    let most = 0;
    const report = await inRounds(
      unreadAnswers,
      run,
      async ({ stage, report, random, index }) => {
        const { ledger, world } = stage;
        const server = await stage.start(world.db, { ...SETUP, tls: index % 2 === 1 });
        const route = () => someServer(stage, 0);
        const load = startLoad(ledger, random, WRITERS, route);
        const unsettled = countUnsettling(ledger);
        const clients = await openBadClients(server.url, world.token, random);
        try {
          const unclosed = await clients.unclosed(SETUP.limits.stallMs + CLOSING_MS);
          if (unclosed > 0) fail(report, 'wrong', `${unclosed} connections that read nothing were not closed`);
          if (countUnsettling(ledger) > unsettled) fail(report, 'wrong', 'a writer was not answered');
          const memory = peakMemoryMib(server.pid);
          most = Math.max(most, memory);
          if (memory > MAX_MEMORY_MIB) fail(report, 'wrong', `the server took ${memory} MiB`);
          if (!(await server.stop(SETUP.drainMs + STOPPING_MS))) fail(report, 'wrong', 'the server did not stop');
        } finally {
          clients.destroy();
        }
        const next = await stage.start();
        await replaySome(ledger, await load.stop(), 20, () => next.url);
        await next.kill();
      },
      () => makeLargeWorld(run),
    );
    note(report, `the server took ${most} MiB at most`);
    return report;
  },
};

/** A world with a list that does not fit into the buffers of a connection. */
async function makeLargeWorld({ engine, cluster }: Run): Promise<World> {
  const world = await makeWorld(engine, cluster);
  const store = await openStore(world.db);
  const accountId = (await store.repositories.accounts.oldest())?.id;
  if (accountId === undefined) throw new Error('the world has no account');
  const now = toInstant(Date.now());
  await store.transaction(async ({ customers }) => {
    for (let index = 0; index < CUSTOMERS; index += 1) {
      await customers.insert({ accountId, id: newId('cus', now, randomBytes(10)), name: 'given', email: null, now });
    }
  });
  await store.close();
  return world;
}

/** The most memory that a process has had at one time (proc_pid_status(5), VmHWM). */
function peakMemoryMib(pid: number): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1_024);
}
