import { expectAnswer } from '../ledger.ts';
import { operationAt } from '../operations.ts';
import { atTurn, type Message, query, type Rule } from '../relay.ts';
import type { Scenario } from '../scenario.ts';

/** What is done to the one COMMIT of a request, and what the client is to hear. */
interface Cut {
  readonly name: string;
  readonly expected: string;
  rule(turn: number): Rule;
}

/** A rule for the messages of COMMIT: the server's own, or the answer to it. */
const atCommit = (from: Message['from'], act: Rule) => (): Rule => (message, link) =>
  message.text === 'COMMIT' && message.from === from ? act(message, link) : undefined;

const cutLink: Rule = (_message, link) => {
  link.cut();
  return undefined;
};

const cuts: readonly Cut[] = [
  { name: 'cut before COMMIT arrives', expected: '500/1', rule: atCommit('server', cutLink) },
  { name: 'cut before the answer to COMMIT arrives', expected: '500/1', rule: atCommit('postgres', cutLink) },
  {
    name: 'COMMIT becomes ROLLBACK, and is answered so',
    expected: '503/1',
    rule: atCommit('server', () => query('ROLLBACK')),
  },
  {
    name: 'cut somewhere before COMMIT',
    expected: '503/1',
    rule: (turn) => atTurn('server', turn, (link) => link.cut()),
  },
  {
    name: 'cut somewhere before COMMIT, on the way back',
    expected: '503/1',
    rule: (turn) => atTurn('postgres', turn, (link) => link.cut()),
  },
];

/** Turns that every mutation takes before its COMMIT: BEGIN, lock, look-up, savepoint, a statement. */
const SURE_TURNS = 5;

/** The connection to PostgreSQL is cut around a commit; the answer says what is known, and the retry settles it. */
export const cutCommit: Scenario = {
  name: 'cut-commit',
  about: 'the connection is cut before and after COMMIT, and COMMIT is answered with ROLLBACK',
  engines: ['postgres'],
  controls: [
    ['commit-tag-ignored', 'postgres'],
    ['unknown-as-failed', 'postgres'],
    ['no-stored-answer', 'postgres'],
  ],
  share: 2,
  shortRounds: 20,
  begin:
    () =>
    async ({ stage, report, random, index }) => {
      const { ledger, url } = stage;
      const relay = await stage.relay();
      if (stage.servers.length === 0) await stage.start({}, relay.db);
      const cut = cuts[index % cuts.length] as Cut;
      const intent = await ledger.intend(operationAt(Math.floor(index / cuts.length)), url);
      relay.rule = cut.rule(random.between(1, SURE_TURNS));
      const answer = await ledger.send(intent, url());
      relay.rule = null;
      expectAnswer(report, answer, cut.expected, cut.name);
      await ledger.settle(intent, url, 2);
    },
};
