import { isSuccess } from '../ledger.ts';
import { operationAt } from '../operations.ts';
import { lacksStrace, trace } from '../process.ts';
import { count, fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

/** Far more than any request makes: a key that comes with its customer writes 67 times. */
const MAX_STEPS = 200;

/** System calls that write: to the database and its log, to the disk, to the client. */
const STEPS = 'pwrite64,fsync,fdatasync,ftruncate,unlink,write,writev';

/** A kill at the first, the second, the third … system call that one request makes, for each operation. */
export const everyStep: Scenario = {
  name: 'every-step',
  about: 'kill -9 at each writing system call of one request, for each operation',
  engines: ['sqlite'],
  controls: [['answer-stored-later', 'sqlite']],
  share: 5,
  shortRounds: 12,
  lacks: lacksStrace,
  begin() {
    let [series, step] = [0, 1];
    return async ({ stage, report }) => {
      const { ledger } = stage;
      const operation = operationAt(series);
      const server = await stage.haveServers(1);
      const intent = await ledger.intend(operation, stage.url);
      const injection = `inject=${STEPS}:signal=KILL:when=${step}`;
      const detach = await trace(server.pid, ['-f', '-e', `trace=${STEPS}`, '-e', injection]);
      const answer = await ledger.send(intent, server.url);
      if (answer === null) await server.ended;
      else if (!isSuccess(answer)) fail(report, 'wrong', `${operation.name} was answered ${answer.status}`);
      await detach();
      await stage.haveServers(1);
      await ledger.settle(intent, stage.url, 2);
      if (answer === null) {
        step += 1;
        if (step > MAX_STEPS) fail(report, 'wrong', `${operation.name} never came to its last step`);
        return;
      }
      count(report, `steps of ${operation.name}`, step - 1);
      series += 1;
      step = 1;
    };
  },
};
