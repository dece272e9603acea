import { isSuccess } from '../ledger.ts';
import { type Operation, operations } from '../operations.ts';
import { fail, note } from '../report.ts';
import { inRounds, type Round, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';
import { attach, lacksStrace } from '../strace.ts';

/** System calls that write: to the database and its log, to the disk, to the client. */
const STEPS = 'pwrite64,fsync,fdatasync,ftruncate,unlink,write,writev';

/** Far more than any request makes: a key that comes with its customer writes 67 times. */
const MAX_STEPS = 200;

/** A kill at each system call that one request makes, for every mutating endpoint, on SQLite. */
export const everyStep: Scenario = {
  name: 'every-step',
  about: 'kill -9 at each writing system call of one request, for every mutating endpoint',
  engines: ['sqlite'],
  controls: [{ sabotage: 'answer-stored-later', engine: 'sqlite' }],
  lacks: lacksStrace,
  run(run) {
    let turn = 0;
    let step = 1;
    return inRounds(everyStep, run, async (round) => {
      const operation = operations[turn % operations.length] as Operation;
      if (await killAt(round, operation, step)) {
        step += 1;
        if (step > MAX_STEPS) fail(round.report, 'wrong', `${operation.name} never came to its last step`);
        return;
      }
      note(round.report, `${operation.name}: ${step - 1} steps`);
      turn += 1;
      step = 1;
    });
  },
};

/** Kills the server at one step of one request, and asks again; false when the request has fewer steps. */
async function killAt({ stage, report }: Round, operation: Operation, step: number): Promise<boolean> {
  const { ledger } = stage;
  const route = () => someServer(stage, 0);
  await stage.haveServers(1);
  const intent = await ledger.intend(operation, route);
  const server = stage.servers[0];
  if (intent === null || server === undefined) {
    fail(report, 'wrong', 'what the round needs could not be made');
    return false;
  }
  const tracer = await attach(server.pid, ['-e', `trace=${STEPS}`, '-e', `inject=${STEPS}:signal=KILL:when=${step}`]);
  const answer = await ledger.send(intent, server.url);
  if (answer === null) await server.exited;
  await tracer.detach();
  if (answer !== null && !isSuccess(answer)) fail(report, 'wrong', `${operation.name} was answered ${answer.status}`);

  await stage.haveServers(1);
  await ledger.settle(intent, route);
  await ledger.settle(intent, route);
  return answer === null;
}
