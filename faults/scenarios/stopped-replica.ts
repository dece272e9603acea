import { setTimeout as sleep } from 'node:timers/promises';
import { isFinal, nameOf } from '../ledger.ts';
import { perform } from '../load.ts';
import { operationAt, operations } from '../operations.ts';
import { atTurn } from '../relay.ts';
import { count, fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

const MAX_TURNS = 10;

/** The round in which the replica sleeps for so long; past those of the short form. */
const LONG_ROUND = 20;
const LONG_MS = 20_000;

/** One of two replicas is stopped in the middle of a request; the other goes on; then the first wakes up. */
export const stoppedReplica: Scenario = {
  name: 'stopped-replica',
  about: 'SIGSTOP of a replica in the middle of a request, the same key at the other one, then SIGCONT',
  engines: ['postgres'],
  controls: [['check-then-act', 'postgres']],
  share: 2,
  shortRounds: 11,
  // A request can end in fewer turns than were drawn; not all of them can.
  tries: { what: 'replicas that were stopped', rounds: 11 },
  begin:
    () =>
    async ({ stage, report, random, index }) => {
      const { ledger } = stage;
      const relay = await stage.relay();
      if (stage.servers.length === 0) await stage.start({}, relay.db);
      await stage.haveServers(2);
      const [sleeper, awake] = stage.servers;
      if (!sleeper || !awake) return fail(report, 'wrong', 'a replica is gone');
      const intent = await ledger.intend(operationAt(index), () => awake.url);

      const { promise: isStopped, resolve: stopped } = Promise.withResolvers<void>();
      const side = random.pick(['server', 'postgres'] as const);
      relay.rule = atTurn(side, random.between(1, MAX_TURNS), () => {
        relay.rule = null;
        sleeper.signal('SIGSTOP');
        count(report, 'replicas that were stopped', 1);
        stopped();
      });
      const slow = ledger.send(intent, sleeper.url);
      await Promise.race([isStopped, slow]);

      // The other replica answers, and goes on with other work.
      const answer = await ledger.send(intent, awake.url);
      const isInOrder = answer !== null && (isFinal(answer) || nameOf(answer) === '409/3');
      if (!isInOrder) fail(report, 'wrong', `answered ${nameOf(answer)}`);
      await perform(ledger, random.pick(operations), () => awake.url);
      // Long enough for PostgreSQL to give up the transaction: then the other replica alone has the say.
      if (index === LONG_ROUND) {
        await sleep(LONG_MS);
        await ledger.settle(intent, () => awake.url);
      } else await sleep(random.below(20));
      sleeper.signal('SIGCONT');
      await slow;
      relay.rule = null;
      for (const { url } of [sleeper, awake]) await ledger.settle(intent, () => url);
    },
};
