import { isFinal, isSuccess, nameOf } from '../ledger.ts';
import { makeKey } from '../load.ts';
import { operationAt, signSharedKey } from '../operations.ts';
import { fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

const AT_ONCE = 100;

/** One key × 100 at once: one runs, the others are told so or get its answer; afterwards everybody gets it. */
export const oneKey: Scenario = {
  name: 'one-key',
  about: '100 requests with one key at once, on one process or two replicas',
  engines: ['sqlite', 'postgres'],
  controls: [
    ['check-then-act', 'sqlite'],
    ['check-then-act', 'postgres'],
    ['replay-of-another', 'sqlite'],
    ['stored-clear', 'sqlite'],
    ['stored-clear', 'postgres'],
  ],
  share: 2,
  shortRounds: 11,
  begin:
    () =>
    async ({ run, stage: { haveServers, ledger, url }, report, index }) => {
      await haveServers(run.engine === 'sqlite' ? 1 : 2);
      const intent = await ledger.intend(operationAt(index), url);
      const sent = Array.from({ length: AT_ONCE }, (_, attempt) => ledger.send(intent, url(attempt)));
      for (const answer of await Promise.all(sent)) {
        const isInOrder = answer !== null && (isFinal(answer) || nameOf(answer) === '409/3');
        if (!isInOrder) fail(report, 'wrong', `answered ${nameOf(answer)}`);
      }
      if (intent.answers.length === 0) fail(report, 'wrong', 'none of the requests ran');
      await ledger.settle(intent, url, 4);
    },
};

const HOSTS = 200;

const SLOT_COUNTS = [1, 5, 50];

/** 200 hosts for a few slots: as many get one as there are. */
export const slots: Scenario = {
  name: 'slots',
  about: '200 hosts sign one key with 1, 5 or 50 slots at once, on one process or two replicas',
  engines: ['sqlite', 'postgres'],
  controls: [
    ['count-then-insert', 'sqlite'],
    ['count-then-insert', 'postgres'],
  ],
  share: 2,
  shortRounds: 2,
  begin:
    () =>
    async ({ run, stage: { haveServers, ledger, url }, report, index }) => {
      await haveServers(run.engine === 'sqlite' ? 1 : 2);
      const count = SLOT_COUNTS[index % SLOT_COUNTS.length] ?? 1;
      const licenseKey = await makeKey(ledger, count, url);
      const hosts = Array.from({ length: HOSTS }, () => ledger.intendOn(signSharedKey, { licenseKey }));
      const answers = await Promise.all(
        hosts.map((host, turn) => ledger.settle(host, (attempt) => url(attempt + turn))),
      );
      const signed = answers.filter((answer) => answer !== null && isSuccess(answer)).length;
      if (signed > count) fail(report, 'overActivated', `${signed} hosts signed in ${count} slots`);
      if (signed < count) fail(report, 'wrong', `${signed} hosts signed in ${count} slots`);
    },
};
