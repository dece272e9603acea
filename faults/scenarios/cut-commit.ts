import { nameOf } from '../ledger.ts';
import { type Operation, operations } from '../operations.ts';
import { atTurn, openRelay, query, type Relay, type Rule } from '../relay.ts';
import { fail } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';

/** What is done to the one COMMIT of a request, and what the client is to hear. */
interface Cut {
  readonly name: string;
  readonly expected: string;
  rule(turn: number): Rule;
}

const cuts: readonly Cut[] = [
  {
    name: 'cut before COMMIT arrives',
    expected: '500/1',
    rule: () => (message, link) => {
      if (message.text === 'COMMIT' && message.from === 'server') link.cut();
      return undefined;
    },
  },
  {
    name: 'cut before the answer to COMMIT arrives',
    expected: '500/1',
    rule: () => (message, link) => {
      if (message.text === 'COMMIT' && message.from === 'postgres') link.cut();
      return undefined;
    },
  },
  {
    name: 'COMMIT becomes ROLLBACK, and is answered so',
    expected: '503/1',
    rule: () => (message) => (message.text === 'COMMIT' && message.from === 'server' ? query('ROLLBACK') : undefined),
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

/** The connection stays, and says nothing more: the server has to lose patience by itself. */
const silence: Cut = {
  name: 'no answer to COMMIT, and no end of the connection',
  expected: '500/1',
  rule: () => (message) =>
    message.text === 'COMMIT' && message.from === 'postgres' ? new Promise(() => {}) : undefined,
};

/** The round of that; it takes long, and is past those of the short form. */
const SILENT_ROUND = 60;

/** Turns that every mutation takes before its COMMIT: BEGIN, lock, look-up, savepoint, a statement. */
const SURE_TURNS = 5;

/** The connection to PostgreSQL is cut around a commit; the answer says what is known, and the retry settles it. */
export const cutCommit: Scenario = {
  name: 'cut-commit',
  about: 'the connection is cut before and after COMMIT, and COMMIT is answered with ROLLBACK',
  engines: ['postgres'],
  controls: [
    { sabotage: 'commit-tag-ignored', engine: 'postgres' },
    { sabotage: 'unknown-as-failed', engine: 'postgres' },
    { sabotage: 'no-stored-answer', engine: 'postgres' },
  ],
  lacks: () => null,
  async run(run) {
    let relay: Relay | null = null;
    let behind = '';
    try {
      return await inRounds(cutCommit, run, async ({ stage, report, random, index }) => {
        if (behind !== stage.world.db) {
          await relay?.close();
          behind = stage.world.db;
          relay = await openRelay(behind);
        }
        if (relay === null) return;
        if (stage.servers.length === 0) await stage.start(relay.db);
        const route = () => someServer(stage, 0);
        const cut = index === SILENT_ROUND ? silence : cuts[index % cuts.length];
        const operation = operations[Math.floor(index / cuts.length) % operations.length] as Operation;
        const intent = await stage.ledger.intend(operation, route);
        if (!intent || !cut) return fail(report, 'wrong', 'what the round needs could not be made');

        relay.rule = cut.rule(random.between(1, SURE_TURNS));
        const answer = await stage.ledger.send(intent, route());
        relay.rule = null;
        const got = answer === null ? 'nothing' : nameOf(answer);
        if (got !== cut.expected) fail(report, 'wrong', `${cut.name}: answered ${got} instead of ${cut.expected}`);
        await stage.ledger.settle(intent, route);
        await stage.ledger.settle(intent, route);
      });
    } finally {
      await (relay as Relay | null)?.close();
    }
  },
};
