import { isFinal, nameOf } from '../ledger.ts';
import { operations } from '../operations.ts';
import { fail } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';

const AT_ONCE = 100;

/** One key × 100 at once: one runs, the others are told so or get its answer; afterwards everybody gets it. */
export const oneKey: Scenario = {
  name: 'one-key',
  about: '100 requests with one key at once, on one process or two replicas',
  engines: ['sqlite', 'postgres'],
  controls: [
    { sabotage: 'check-then-act', engine: 'sqlite' },
    { sabotage: 'check-then-act', engine: 'postgres' },
    { sabotage: 'replay-of-another', engine: 'sqlite' },
    { sabotage: 'stored-clear', engine: 'sqlite' },
    { sabotage: 'stored-clear', engine: 'postgres' },
  ],
  lacks: () => null,
  run: (run) =>
    inRounds(oneKey, run, async ({ stage, report, index }) => {
      await stage.haveServers(run.engine === 'sqlite' ? 1 : 2);
      const route = (attempt: number) => someServer(stage, attempt);
      const operation = operations[index % operations.length];
      const intent = operation && (await stage.ledger.intend(operation, route));
      if (!intent) return fail(report, 'wrong', 'what the round needs could not be made');

      const sent = Array.from({ length: AT_ONCE }, (_, attempt) => stage.ledger.send(intent, route(attempt)));
      for (const answer of await Promise.all(sent)) {
        if (answer === null) fail(report, 'wrong', 'a request got no answer');
        else if (!isFinal(answer) && nameOf(answer) !== '409/3') fail(report, 'wrong', `answered ${nameOf(answer)}`);
      }
      if (intent.answers.length === 0) fail(report, 'wrong', 'none of the requests ran');
      for (let again = 0; again < 4; again += 1) await stage.ledger.settle(intent, (attempt) => route(attempt + again));
    }),
};
