import { setTimeout as sleep } from 'node:timers/promises';
import { expectAnswer, type Intent } from '../ledger.ts';
import { operationAt, operations } from '../operations.ts';
import { lacksStrace, trace } from '../process.ts';
import type { Round, Scenario } from '../scenario.ts';
import { isQuiet } from '../snapshot.ts';

const SYNCS = 'fsync,fdatasync';

/** A disk that cannot sync: no acknowledgement, the key stays taken, and in the end it has happened once. */
export const failingSync: Scenario = {
  name: 'failing-sync',
  about: 'every fsync fails with EIO; then the disk recovers, or the server is killed before it does',
  engines: ['sqlite'],
  controls: [
    ['synchronous-normal', 'sqlite'],
    ['unknown-as-failed', 'sqlite'],
  ],
  share: 2,
  shortRounds: 4,
  lacks: lacksStrace,
  begin: () => async (round) => {
    const { stage, report, random, index } = round;
    const { ledger, url } = stage;
    await stage.haveServers(1);
    const intent = await ledger.intend(operationAt(index), url);
    const other = await ledger.intend(random.pick(operations), url);
    const injection = ['-e', `trace=${SYNCS}`, '-e', `inject=${SYNCS}:error=EIO`];
    const send = async (asked: Intent, expected: string) =>
      expectAnswer(report, await ledger.send(asked, url()), expected, 'while no sync succeeds');
    await whileCallsFail(round, [intent, other], injection, async () => {
      await send(intent, '500/1');
      await send(intent, '409/3');
      await send(other, '503/1');
      await send(intent, '409/3');
    });
  },
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
  controls: [['unknown-as-failed', 'sqlite']],
  share: 1,
  shortRounds: 4,
  lacks: lacksStrace,
  begin: () => async (round) => {
    const { stage, report, random, index } = round;
    const { ledger, url } = stage;
    await stage.haveServers(1);
    const intent = await ledger.intend(operationAt(index), url);
    const error = random.pick(['EIO', 'ENOSPC'] as const);
    const injection = `inject=pwrite64:error=${error}:when=${random.between(1, SURE_WRITES)}`;
    await whileCallsFail(round, [intent], ['-e', 'trace=pwrite64', '-e', injection], async () =>
      expectAnswer(report, await ledger.send(intent, url()), WRITE_ERRORS[error], `after ${error}`),
    );
  },
};

const QUIET_WITHIN_MS = 20_000;

/**
 * Sends something while system calls of the server fail; then they work again, or the server is killed before. The next
 * commit of the server is that of a request: the failure would else meet work of its own.
 */
async function whileCallsFail(
  { stage, random }: Round,
  intents: readonly Intent[],
  injection: readonly string[],
  send: () => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + QUIET_WITHIN_MS;
  while (!isQuiet(stage.world.db)) {
    if (performance.now() > deadline) throw new Error('the server goes on writing although nobody asks');
    await sleep(5);
  }
  const server = await stage.haveServers(1);
  const detach = await trace(server.pid, ['-f', ...injection]);
  await send();
  if (random.below(2) === 0) await server.kill();
  await detach();
  await stage.haveServers(1);
  for (const intent of intents) await stage.ledger.settle(intent, stage.url, 2);
}
