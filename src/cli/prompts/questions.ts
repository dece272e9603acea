import type { CommandContext } from '../context.ts';
import { NotConfirmedError } from '../failure/errors.ts';
import { sanitise } from '../output/terminal.ts';

interface Question {
  readonly about: readonly string[];
  readonly question: string;
  /** What the error calls it when there is no terminal to ask on: `deleting cus_…`. */
  readonly action: string;
  readonly flag: string;
}

/** Asks yes or no. Throws `NotConfirmedError` unless the answer is yes. */
export const confirm = (context: CommandContext, { question, ...rest }: Question): Promise<void> =>
  ask(context, rest, () => context.io.prompter.confirm(sanitise(question)));

/** Asks the person to type `expected`. Throws `NotConfirmedError` when anything else is typed. */
export const confirmByTyping = (
  context: CommandContext,
  expected: string,
  rest: Omit<Question, 'question'>,
): Promise<void> =>
  ask(context, rest, async () => {
    const typed = await context.io.prompter.type(`type ${sanitise(expected)} to confirm:`);
    return typed.trim() === expected;
  });

async function ask(
  { settings, io }: CommandContext,
  { about, action, flag }: Omit<Question, 'question'>,
  isConfirmed: () => Promise<boolean>,
): Promise<void> {
  if (!settings.interactive) {
    const why = `${action} needs confirmation, and nothing can be asked: ${settings.notInteractive}`;
    throw new NotConfirmedError(why, [['Nothing was sent. Run it again with:', flag]]);
  }
  await io.stderr.write(about.map((line) => `${sanitise(line)}\n`).join(''));
  if (!(await isConfirmed())) throw new NotConfirmedError(`${action} was not confirmed`, ['Nothing was sent.']);
}
