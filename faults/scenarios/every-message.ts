import { isSuccess } from '../ledger.ts';
import { type Operation, operations } from '../operations.ts';
import { atTurn, type Message, openRelay, type Relay } from '../relay.ts';
import { fail, note } from '../report.ts';
import { inRounds, type Round, type Scenario } from '../scenario.ts';
import { someServer } from '../stage.ts';

const MOST_TURNS = 40;

const SIDES: readonly Message['from'][] = ['server', 'postgres'];

/** A kill at each message between the server and PostgreSQL, for every mutating endpoint. */
export const everyMessage: Scenario = {
  name: 'every-message',
  about: 'kill -9 before each turn of the talk with PostgreSQL, either way, for every mutating endpoint',
  engines: ['postgres'],
  controls: [{ sabotage: 'answer-stored-later', engine: 'postgres' }],
  lacks: () => null,
  run(run) {
    let series = 0;
    let turn = 1;
    return inRounds(everyMessage, run, async (round) => {
      const side = SIDES[series % SIDES.length] ?? 'server';
      const operation = operations[Math.floor(series / SIDES.length) % operations.length] as Operation;
      const relay = await openRelay(round.stage.world.db);
      const killed = await killAt(round, operation, relay, side, turn).finally(relay.close);
      if (killed) {
        turn += 1;
        if (turn > MOST_TURNS) fail(round.report, 'wrong', `${operation.name} never came to its last message`);
        return;
      }
      note(round.report, `${operation.name}: ${turn - 1} turns of ${side}`);
      series += 1;
      turn = 1;
    });
  },
};

/** Kills the server at one turn of one request, and asks another; false when the request has fewer turns. */
async function killAt(
  { stage, report }: Round,
  operation: Operation,
  relay: Relay,
  side: Message['from'],
  turn: number,
): Promise<boolean> {
  const { ledger } = stage;
  await stage.haveServers(1);
  const replica = someServer(stage, 0);
  const intent = await ledger.intend(operation, () => replica);
  if (intent === null) {
    fail(report, 'wrong', 'what the round needs could not be made');
    return false;
  }
  const victim = await stage.start(relay.db);
  let killed = false;
  relay.rule = atTurn(side, turn, async (link) => {
    killed = true;
    await victim.kill();
    link.cut();
  });
  const answer = await ledger.send(intent, victim.url);
  if (answer !== null && !isSuccess(answer)) fail(report, 'wrong', `${operation.name} was answered ${answer.status}`);
  relay.rule = null;
  if (!killed) await victim.kill();

  await ledger.settle(intent, () => replica);
  await ledger.settle(intent, () => replica);
  return killed;
}
