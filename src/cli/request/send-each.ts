import type { CommandContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../failure/errors.ts';
import { doneNote, type Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import { isRefusal, type PreparedChange, type Send } from './changes.ts';

/** A change that is ready to be sent, with what it changes, as the command calls it. */
export interface NamedChange extends PreparedChange<unknown> {
  readonly name: string;
}

export interface SentChange {
  readonly name: string;
  readonly done: boolean;
  readonly error: string | null;
  readonly idempotencyKey: string;
}

/** How a command speaks of what it does to each of several things: `deleted`, `customer`. */
export interface Words {
  readonly done: string;
  readonly noun: string;
}

/** Makes several changes ready, in their order. Rejects as `context.prepare` does. */
export async function prepareEach(
  context: CommandContext,
  named: readonly { readonly name: string; readonly send: Send<unknown> }[],
): Promise<readonly NamedChange[]> {
  const changes = await context.prepare(named.map(({ send }) => send));
  return changes.map((change, at) => ({ ...change, name: named[at]?.name ?? '' }));
}

/** Sends changes one after the other. A refusal is reported, unless it is of the only one; any other error ends the command. */
export async function sendEach(
  context: CommandContext,
  changes: readonly NamedChange[],
  words: Words,
): Promise<readonly SentChange[]> {
  const sent: SentChange[] = [];
  for (const { name, idempotencyKey, send } of changes) {
    try {
      const changed = await send();
      sent.push({ name, done: true, error: null, idempotencyKey });
      await context.say(doneNote(changed, `${words.done} ${name}`));
    } catch (error) {
      if (changes.length === 1) throw error;
      if (!isRefusal(error)) {
        const done = sent.filter((one) => one.done).length;
        const text = `${words.done} ${done} of ${count(changes.length, words.noun)}; stopped at ${name}`;
        await context.say({ tone: 'warning', text });
        throw error;
      }
      sent.push({ name, done: false, error: error.message, idempotencyKey });
      await context.say({ tone: 'warning', text: `not ${words.done} ${name}: ${error.message}` });
    }
  }
  return sent;
}

/** What a command says of several changes in the end: a note and an exit code of its own when some were refused. */
export function summaryOf(
  sent: readonly SentChange[],
  { done, noun }: Words,
): { readonly exitCode?: ExitCode; readonly notes?: readonly Note[] } {
  const failed = sent.filter((one) => !one.done);
  if (failed.length === 0) return {};
  const text = `${done} ${sent.length - failed.length} of ${count(sent.length, noun)}`;
  return {
    exitCode: exitCodes.partial,
    notes: [{ tone: 'warning', text: `${text}; not ${failed.map(({ name }) => name).join(', ')}` }],
  };
}
