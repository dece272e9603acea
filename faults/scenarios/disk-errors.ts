import { setTimeout as sleep } from 'node:timers/promises';
import { type Intent, isFinal, type Ledger, nameOf, type Route } from '../ledger.ts';
import { type Operation, operations } from '../operations.ts';
import { fail } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { isQuiet } from '../snapshot.ts';
import { someServer } from '../stage.ts';
import { attach, lacksStrace } from '../strace.ts';
import type { World } from '../world.ts';

const SYNCS = 'fsync,fdatasync';

/** A disk that cannot sync: no acknowledgement, the key stays taken, and in the end it has happened once. */
export const failingSync: Scenario = {
  name: 'failing-sync',
  about: 'every fsync fails with EIO; then the disk recovers, or the server is killed before it does',
  engines: ['sqlite'],
  controls: [
    { sabotage: 'synchronous-normal', engine: 'sqlite' },
    { sabotage: 'unknown-as-failed', engine: 'sqlite' },
  ],
  lacks: lacksStrace,
  run: (run) =>
    inRounds(failingSync, run, async ({ stage, report, random, index }) => {
      const { ledger } = stage;
      const route = () => someServer(stage, 0);
      await stage.haveServers(1);
      const intent = await ledger.intend(operations[index % operations.length] as Operation, route);
      const other = await ledger.intend(random.pick(operations), route);
      const server = stage.servers[0];
      if (!intent || !other || !server) return fail(report, 'wrong', 'what the round needs could not be made');

      const expect = async (asked: typeof intent, expected: string) => {
        const answer = await ledger.send(asked, server.url);
        const got = answer === null ? 'nothing' : nameOf(answer);
        if (got !== expected) fail(report, 'wrong', `answered ${got} instead of ${expected} while no sync succeeds`);
        if (answer !== null && isFinal(answer)) fail(report, 'wrong', `${got} settles what is not durable`);
      };
      await quiet(stage.world);
      const tracer = await attach(server.pid, ['-e', `trace=${SYNCS}`, '-e', `inject=${SYNCS}:error=EIO`]);
      await expect(intent, '500/1');
      await expect(intent, '409/3');
      await expect(other, '503/1');
      await expect(intent, '409/3');
      if (random.below(2) === 0) await server.kill();
      await tracer.detach();
      await stage.haveServers(1);
      for (const asked of [intent, other]) await settleTwice(ledger, asked, route);
    }),
};

/** What each error of a write is answered with: after a full disk it is certain that nothing has happened. */
const WRITE_ERRORS = { ENOSPC: '503/1', EIO: '500/1' } as const;

/** Every commit writes at least this often: a page and its header, for three pages. */
const SURE_WRITES = 6;

/** One write of a commit fails, at whatever step. */
export const failingWrite: Scenario = {
  name: 'failing-write',
  about: 'one write of a commit fails, with EIO or ENOSPC; in half of the rounds the server is killed after it',
  engines: ['sqlite'],
  controls: [{ sabotage: 'unknown-as-failed', engine: 'sqlite' }],
  lacks: lacksStrace,
  run: (run) =>
    inRounds(failingWrite, run, async ({ stage, report, random, index }) => {
      const { ledger } = stage;
      const route = () => someServer(stage, 0);
      await stage.haveServers(1);
      const intent = await ledger.intend(operations[index % operations.length] as Operation, route);
      const server = stage.servers[0];
      if (!intent || !server) return fail(report, 'wrong', 'what the round needs could not be made');

      const error = random.pick(['EIO', 'ENOSPC'] as const);
      const injection = `inject=pwrite64:error=${error}:when=${random.between(1, SURE_WRITES)}`;
      await quiet(stage.world);
      const tracer = await attach(server.pid, ['-e', 'trace=pwrite64', '-e', injection]);
      const answer = await ledger.send(intent, server.url);
      const got = answer === null ? 'nothing' : nameOf(answer);
      if (got !== WRITE_ERRORS[error]) fail(report, 'wrong', `answered ${got} after ${error}`);
      if (random.below(2) === 0) await server.kill();
      await tracer.detach();
      await stage.haveServers(1);
      await settleTwice(ledger, intent, route);
    }),
};

const QUIET_WITHIN_MS = 20_000;

/** Resolves once the next commit of the server is that of a request: the failure would else meet work of its own. */
async function quiet({ db }: World): Promise<void> {
  const deadline = performance.now() + QUIET_WITHIN_MS;
  while (!isQuiet(db)) {
    if (performance.now() > deadline) throw new Error('the server goes on writing although nobody asks');
    await sleep(5);
  }
}

async function settleTwice(ledger: Ledger, intent: Intent, route: Route): Promise<void> {
  await ledger.settle(intent, route);
  await ledger.settle(intent, route);
}
