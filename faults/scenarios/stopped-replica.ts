import { setTimeout as sleep } from 'node:timers/promises';
import { perform } from '../clients.ts';
import { isFinal, nameOf } from '../ledger.ts';
import { type Operation, operations } from '../operations.ts';
import { atTurn, openRelay, type Relay } from '../relay.ts';
import { fail } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';

const MOST_TURNS = 10;

/** In so many rounds at least one replica is stopped. */
const ROUNDS_WITH_STOPS = 10;

/** The round in which the replica sleeps for so long; past those of the short form. */
const LONG_ROUND = 20;
const LONG_MS = 20_000;

/** One of two replicas is stopped in the middle of a request; the other goes on; then the first wakes up. */
export const stoppedReplica: Scenario = {
  name: 'stopped-replica',
  about: 'SIGSTOP of a replica in the middle of a request, the same key at the other one, then SIGCONT',
  engines: ['postgres'],
  controls: [{ sabotage: 'check-then-act', engine: 'postgres' }],
  lacks: () => null,
  async run(run) {
    let relay: Relay | null = null;
    let behind = '';
    let stops = 0;
    try {
      const report = await inRounds(stoppedReplica, run, async ({ stage, report, random, index }) => {
        if (behind !== stage.world.db) {
          await relay?.close();
          behind = stage.world.db;
          relay = await openRelay(behind);
        }
        if (relay === null) return;
        const { ledger } = stage;
        if (stage.servers.length === 0) await stage.start(relay.db);
        await stage.haveServers(2);
        const [sleeper, awake] = stage.servers;
        if (!sleeper || !awake) return fail(report, 'wrong', 'a replica is gone');
        const operation = operations[index % operations.length] as Operation;
        const intent = await ledger.intend(operation, () => awake.url);
        if (intent === null) return fail(report, 'wrong', 'what the round needs could not be made');

        let stopped = (): void => {};
        const isStopped = new Promise<void>((resolve) => {
          stopped = resolve;
        });
        const side = random.pick(['server', 'postgres'] as const);
        const through = relay;
        relay.rule = atTurn(side, random.between(1, MOST_TURNS), () => {
          through.rule = null;
          sleeper.signal('SIGSTOP');
          stops += 1;
          stopped();
        });
        const slow = ledger.send(intent, sleeper.url);
        await Promise.race([isStopped, slow]);

        // The other replica answers, and goes on with other work.
        const answer = await ledger.send(intent, awake.url);
        const got = answer === null ? 'nothing' : nameOf(answer);
        if (answer === null || (!isFinal(answer) && got !== '409/3')) fail(report, 'wrong', `answered ${got}`);
        await perform(ledger, random.pick(operations), () => awake.url);
        // Long enough for PostgreSQL to give up the transaction: then the other replica alone has the say.
        if (index === LONG_ROUND) {
          await sleep(LONG_MS);
          await ledger.settle(intent, () => awake.url);
        } else await sleep(random.below(20));
        sleeper.signal('SIGCONT');
        await slow;
        relay.rule = null;
        await ledger.settle(intent, () => sleeper.url);
        await ledger.settle(intent, () => awake.url);
      });
      // A request can end in fewer turns than were drawn; not all of them can.
      if (stops === 0 && report.rounds > ROUNDS_WITH_STOPS) fail(report, 'wrong', 'no replica was ever stopped');
      return report;
    } finally {
      await (relay as Relay | null)?.close();
    }
  },
};
