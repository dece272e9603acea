import type { CommandContext } from '../context.ts';
import { NotConfirmedError } from '../failure/errors.ts';
import { sanitise } from '../output/terminal.ts';
import { wrap } from '../output/words.ts';

interface Question {
  readonly about: readonly string[];
  /** A yes-or-no question, or a text to type; `or` confirms as well. */
  readonly question: string | { readonly typed: string; readonly or?: string | undefined };
  /** Names the action in errors: `deleting cus_…`. */
  readonly action: string;
  /** The option that confirms it; default `--yes`. */
  readonly flag?: string;
}

/** Throws `NotConfirmedError` unless the person answers yes, or types the exact text. */
export async function confirm({ settings, io }: CommandContext, asked: Question): Promise<void> {
  const { about, question, action, flag = '--yes' } = asked;
  if (!settings.interactive) {
    const why = `${action} needs confirmation, and nothing can be asked: ${settings.notInteractive}`;
    throw new NotConfirmedError(why, [['Nothing was sent. Run it again with:', flag]]);
  }
  const lines = about.flatMap((line) => {
    const indent = ' '.repeat(line.search(/\S|$/));
    return wrap(line.trimStart(), io.stderr.columns - indent.length).map((part) => `${indent}${part}`);
  });
  await io.stderr.write(lines.map((line) => `${sanitise(line)}\n`).join(''));
  const prompter = io.prompter(settings);
  async function isTyped(...texts: readonly string[]): Promise<boolean> {
    const typed = await prompter.type(`type ${texts.map(sanitise).join(' or ')} to confirm:`);
    return texts.includes(typed.trim());
  }
  const isConfirmed =
    typeof question === 'string'
      ? await prompter.confirm(sanitise(question))
      : await isTyped(question.typed, ...[question.or ?? []].flat());
  if (!isConfirmed) throw new NotConfirmedError(`${action} was not confirmed`, ['Nothing was sent.']);
}
