import { isSuccess } from '../ledger.ts';
import { type Operation, operationAt } from '../operations.ts';
import { lacksStrace, trace } from '../process.ts';
import { atTurn } from '../relay.ts';
import { count, fail } from '../report.ts';
import type { Round, Scenario } from '../scenario.ts';

/** Far more than any request makes: a key that comes with its customer writes 67 times. */
const MAX_STEPS = 200;

/**
 * Kills a server at the first, the second, the third … step of a request, for one operation after the other and each of
 * several kinds of steps. `killAt` returns false when the request has fewer steps.
 */
function eachStep<Kind>(
  kinds: readonly Kind[],
  killAt: (round: Round, operation: Operation, kind: Kind, step: number) => Promise<boolean>,
): Scenario['begin'] {
  return () => {
    let [series, step] = [0, 1];
    return async (round) => {
      const operation = operationAt(Math.floor(series / kinds.length));
      const kind = kinds[series % kinds.length] as Kind;
      if (await killAt(round, operation, kind, step)) {
        step += 1;
        if (step > MAX_STEPS) fail(round.report, 'wrong', `${operation.name} never came to its last step`);
        return;
      }
      count(round.report, `steps of ${operation.name}: ${kind}`, step - 1);
      series += 1;
      step = 1;
    };
  };
}

/** System calls that write: to the database and its log, to the disk, to the client. */
const STEPS = 'pwrite64,fsync,fdatasync,ftruncate,unlink,write,writev';

/** A kill at each system call that one request makes, for every mutating endpoint, on SQLite. */
export const everyStep: Scenario = {
  name: 'every-step',
  about: 'kill -9 at each writing system call of one request, for every mutating endpoint',
  engines: ['sqlite'],
  controls: [['answer-stored-later', 'sqlite']],
  share: 5,
  shortRounds: 12,
  lacks: lacksStrace,
  begin: eachStep(['system calls'], async ({ stage, report }, operation, _, step) => {
    const { ledger } = stage;
    const server = await stage.haveServers(1);
    const intent = await ledger.intend(operation, stage.url);
    const detach = await trace(server.pid, [
      '-f',
      '-e',
      `trace=${STEPS}`,
      '-e',
      `inject=${STEPS}:signal=KILL:when=${step}`,
    ]);
    const answer = await ledger.send(intent, server.url);
    if (answer === null) await server.ended;
    else if (!isSuccess(answer)) fail(report, 'wrong', `${operation.name} was answered ${answer.status}`);
    await detach();
    await stage.haveServers(1);
    await ledger.settle(intent, stage.url, 2);
    return answer === null;
  }),
};

/** A kill at each message between the server and PostgreSQL, for every mutating endpoint. */
export const everyMessage: Scenario = {
  name: 'every-message',
  about: 'kill -9 before each turn of the talk with PostgreSQL, either way, for every mutating endpoint',
  engines: ['postgres'],
  controls: [['answer-stored-later', 'postgres']],
  share: 5,
  shortRounds: 11,
  begin: eachStep(['server', 'postgres'] as const, async ({ stage, report }, operation, side, turn) => {
    const { ledger } = stage;
    const replica = await stage.haveServers(1);
    const relay = await stage.relay();
    const intent = await ledger.intend(operation, () => replica.url);
    const victim = await stage.start({}, relay.db);
    let isKilled = false;
    relay.rule = atTurn(side, turn, async (link) => {
      isKilled = true;
      await victim.kill();
      link.cut();
    });
    const answer = await ledger.send(intent, victim.url);
    if (answer !== null && !isSuccess(answer)) fail(report, 'wrong', `${operation.name} was answered ${answer.status}`);
    relay.rule = null;
    if (!isKilled) await victim.kill();
    await ledger.settle(intent, () => replica.url, 2);
    return isKilled;
  }),
};
