import { InterruptedError } from '../failure/errors.ts';

/** Asks the person at the terminal; draws on stderr. */
export interface Prompter {
  confirm(question: string): Promise<boolean>;
  /** Asks for a text and gives it back as it was typed. */
  type(question: string): Promise<string>;
}

/** The prompter of a real terminal. */
export function terminalPrompter(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompter {
  const streams = { input, output };
  return {
    confirm: (message) =>
      answered(async () => (await import('@inquirer/prompts')).confirm({ message, default: false }, streams)),
    type: (message) => answered(async () => (await import('@inquirer/prompts')).input({ message }, streams)),
  };
}

async function answered<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError')
      throw new InterruptedError('SIGINT', ['Nothing was sent.']);
    throw error;
  }
}
