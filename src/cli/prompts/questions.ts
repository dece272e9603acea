import type { CommandContext } from '../context.ts';
import { NotConfirmedError } from '../failure/errors.ts';
import { sanitise } from '../output/terminal.ts';

interface Question {
  /** What is about to happen, shown before the question. */
  readonly about: readonly string[];
  readonly question: string;
  /** What the error calls it when there is no terminal to ask on: `deleting cus_…`. */
  readonly action: string;
  /** The flag that answers in a script. */
  readonly flag: string;
}

/** Asks yes or no. Throws `NotConfirmedError` unless the answer is yes. */
export async function confirm(context: CommandContext, { about, question, action, flag }: Question): Promise<void> {
  if (!context.settings.interactive) throw unanswerable(context, action, flag);
  await showAbout(context, about);
  if (!(await context.io.prompter.confirm(sanitise(question)))) throw declined(action);
}

/** Asks the person to type `expected`. Throws `NotConfirmedError` when anything else is typed. */
export async function confirmByTyping(
  context: CommandContext,
  expected: string,
  rest: Omit<Question, 'question'>,
): Promise<void> {
  if (!context.settings.interactive) throw unanswerable(context, rest.action, rest.flag);
  await showAbout(context, rest.about);
  const typed = await context.io.prompter.type(`type ${sanitise(expected)} to confirm:`);
  if (typed.trim() !== expected) throw declined(rest.action);
}

async function showAbout({ io }: CommandContext, about: readonly string[]): Promise<void> {
  await io.stderr.write(about.map((line) => `${sanitise(line)}\n`).join(''));
}

const unanswerable = ({ settings }: CommandContext, action: string, flag: string): NotConfirmedError =>
  new NotConfirmedError(`${action} needs confirmation, and nothing can be asked: ${settings.notInteractive}`, [
    ['Nothing was sent. Run it again with:', flag],
  ]);

const declined = (action: string): NotConfirmedError =>
  new NotConfirmedError(`${action} was not confirmed`, ['Nothing was sent.']);
