import { InterruptedError, NotConfirmedError } from '../failure/errors.ts';

/** Asks the person at the terminal; draws on stderr. */
export interface Prompter {
  confirm(question: string): Promise<boolean>;
  type(question: string): Promise<string>;
  /** Asks for a text that is not shown while it is typed or pasted. */
  secret(question: string): Promise<string>;
  choose(question: string, choices: readonly Choice[]): Promise<string>;
  /** Asks for one of many choices, which are found by what is typed, and resolves to its value. */
  search(question: string, find: Find): Promise<string>;
}

/** The choices for what was typed so far; empty at first. The signal says that more was typed meanwhile. */
export type Find = (typed: string, signal: AbortSignal) => Promise<readonly Choice[]>;

/** One of several choices: `name` is shown, and `short` once it was chosen; `value` is returned. */
export interface Choice {
  readonly value: string;
  readonly name: string;
  readonly short?: string;
}

type Prompts = typeof import('./library.ts');

export type Streams = { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };

type Context = Streams & { readonly signal: AbortSignal };

/** The prompter of a real terminal. Ctrl-C ends the command with 130, and Ctrl-D with 3: nothing was confirmed. */
export function terminalPrompter(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompter {
  const ask = <T>(show: (prompts: Prompts, context: Context) => Promise<T>): Promise<T> =>
    waitForAnswer({ input, output }, async (context) => show(await import('./library.ts'), context));
  return {
    confirm: (message) => ask(({ confirm }, context) => confirm({ message, default: false }, context)),
    type: (message) => ask((prompts, context) => prompts.input({ message }, context)),
    secret: (message) => ask(({ password }, context) => password({ message }, context)),
    choose: (message, choices) => ask(({ select }, context) => select({ message, choices: [...choices] }, context)),
    search: (message, find) =>
      ask(({ search }, context) =>
        search({ message, source: async (typed = '', { signal }) => [...(await find(typed, signal))] }, context),
      ),
  };
}

/** Waits for an answer, or for the end of the input: a prompt by itself does not notice that, and waits for ever. */
export async function waitForAnswer<T>(streams: Streams, ask: (context: Context) => Promise<T>): Promise<T> {
  const closed = new AbortController();
  // The line reader pauses its input when it closes: at Ctrl-D, at a hang-up, and after an answer, which is settled then.
  const onClose = (): void => void setImmediate(() => closed.abort());
  const events = ['pause', 'end', 'close'];
  for (const event of events) streams.input.once(event, onClose);
  try {
    return await ask({ ...streams, signal: closed.signal });
  } catch (error) {
    const { name = '', message = '' } = error instanceof Error ? error : {};
    if (name === 'ExitPromptError' || message === 'Aborted with Ctrl+C')
      throw new InterruptedError('SIGINT', ['Nothing was sent.']);
    if (/^Abort(Prompt)?Error$/.test(name))
      throw new NotConfirmedError('the question got no answer', ['Nothing was sent.']);
    throw error;
  } finally {
    for (const event of events) streams.input.off(event, onClose);
  }
}
