import { InterruptedError, NotConfirmedError } from '../failure/errors.ts';

export interface Prompter {
  confirm(question: string): Promise<boolean>;
  type(question: string): Promise<string>;
  /** Asks for a text without showing it. */
  secret(question: string): Promise<string>;
  choose(question: string, choices: readonly Choice[]): Promise<string>;
  /** Asks for one of many choices that match the typed text; resolves to its value. */
  search(question: string, find: Find): Promise<string>;
}

/** Returns the choices for the typed text. The signal reports further typing. */
export type Find = (typed: string, signal: AbortSignal) => Promise<readonly Choice[]>;

/** `name` is listed, `short` shown after the choice, `value` returned. */
export interface Choice {
  readonly value: string;
  readonly name: string;
  readonly short?: string;
}

type Prompts = typeof import('./library.ts');

export type Streams = { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };

type Context = Streams & { readonly signal: AbortSignal };

/** The prompter of a terminal. Ctrl-C ends the command with 130, Ctrl-D with 3. */
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

/** Waits for an answer or the end of the input, which a prompt alone would not notice. */
export async function waitForAnswer<T>(streams: Streams, ask: (context: Context) => Promise<T>): Promise<T> {
  const closed = new AbortController();
  // The line reader pauses its input when it closes: at Ctrl-D, at a hang-up, and after an answer that is then settled.
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
