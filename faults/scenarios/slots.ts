import { makeKey } from '../clients.ts';
import { isSuccess } from '../ledger.ts';
import { signSharedKey } from '../operations.ts';
import { fail } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';

const HOSTS = 200;

const SLOT_COUNTS = [1, 5, 50];

/** 200 hosts for a few slots: as many get one as there are. */
export const slots: Scenario = {
  name: 'slots',
  about: '200 hosts sign one key with 1, 5 or 50 slots at once, on one process or two replicas',
  engines: ['sqlite', 'postgres'],
  controls: [
    { sabotage: 'count-then-insert', engine: 'sqlite' },
    { sabotage: 'count-then-insert', engine: 'postgres' },
  ],
  lacks: () => null,
  run: (run) =>
    inRounds(slots, run, async ({ stage, report, index }) => {
      await stage.haveServers(run.engine === 'sqlite' ? 1 : 2);
      const { ledger } = stage;
      const count = SLOT_COUNTS[index % SLOT_COUNTS.length] ?? 1;
      const licenseKey = await makeKey(ledger, count, (attempt) => someServer(stage, attempt));
      if (licenseKey === null) return fail(report, 'wrong', 'what the round needs could not be made');

      const hosts = Array.from({ length: HOSTS }, () => ledger.intendOn(signSharedKey, { licenseKey }));
      const answers = await Promise.all(
        hosts.map((host, turn) => ledger.settle(host, (attempt) => someServer(stage, attempt + turn))),
      );
      const signed = answers.filter((answer) => answer !== null && isSuccess(answer)).length;
      if (signed > count) fail(report, 'overActivated', `${signed} hosts signed in ${count} slots`);
      if (signed < count) fail(report, 'wrong', `${signed} hosts signed in ${count} slots`);
    }),
};
