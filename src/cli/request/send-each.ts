import type { CommandContext } from '../context.ts';
import { type ExitCode, exitCodes } from '../failure/errors.ts';
import { doneNote, type Note } from '../output/terminal.ts';
import { count } from '../output/words.ts';
import { isRefusal, type PreparedChange } from './changes.ts';

/** What became of one of several changes. */
export interface SentChange {
  /** What was changed, as the command calls it. */
  readonly name: string;
  readonly done: boolean;
  /** Why it was not done; null when it was. */
  readonly error: string | null;
  readonly idempotencyKey: string;
}

/** How a command speaks of what it does to each of several things: `deleted`, `customer`. */
export interface Words {
  readonly done: string;
  readonly noun: string;
}

/**
 * Sends changes one after the other and says what became of each. A refusal is reported and the next one is sent; any
 * other error, and the refusal of a single change, ends the command.
 *
 * @param names what each changes, in the same order
 */
export async function sendEach(
  context: CommandContext,
  names: readonly string[],
  changes: readonly PreparedChange<unknown>[],
  words: Words,
): Promise<readonly SentChange[]> {
  const sent: SentChange[] = [];
  for (const [at, { idempotencyKey, send }] of changes.entries()) {
    const name = names[at] ?? '';
    try {
      const changed = await send();
      sent.push({ name, done: true, error: null, idempotencyKey });
      await context.say(doneNote(changed, `${words.done} ${name}`));
    } catch (error) {
      if (names.length > 1 && !isRefusal(error)) await sayWhatIsLeft(context, names, sent, words);
      if (names.length === 1 || !isRefusal(error)) throw error;
      sent.push({ name, done: false, error: error.message, idempotencyKey });
      await context.say({ tone: 'warning', text: `not ${words.done} ${name}: ${error.message}` });
    }
  }
  return sent;
}

/** The end of a command that has sent several changes: with a note and an exit code of its own when some were refused. */
export function endOf(
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

async function sayWhatIsLeft(
  context: CommandContext,
  names: readonly string[],
  sent: readonly SentChange[],
  words: Words,
) {
  const done = sent.filter((one) => one.done).map(({ name }) => name);
  const [last, ...untried] = names.slice(sent.length);
  const parts = [
    `${words.done} ${done.length} of ${count(names.length, words.noun)}${done.length > 0 ? `: ${done.join(', ')}` : ''}`,
    `stopped at ${last}`,
    ...(untried.length > 0 ? [`not tried: ${untried.join(', ')}`] : []),
  ];
  await context.say({ tone: 'warning', text: parts.join('; ') });
}
