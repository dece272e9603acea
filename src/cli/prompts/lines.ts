import { type Find, type Prompter, type Streams, waitForAnswer } from './prompt.ts';

/** The number of choices that a person who hears them can remember. */
const MAX_CHOICES = 20;

/** The prompter of the accessible mode: questions are plain lines, and choices have numbers. */
export function linePrompter(streams: Streams, stop: AbortSignal): Prompter {
  const say = (text: string) => void streams.output.write(text);

  const read = (question: string, isHidden = false): Promise<string> =>
    waitForAnswer(streams, async ({ input, signal }) => {
      const { createInterface } = await import('node:readline/promises');
      // Without output nothing is redrawn: the terminal itself shows typed text, unless it is hidden.
      const lines = createInterface({ input, terminal: isHidden });
      // The question is written only after the input is open: otherwise typed text would be shown, and a Ctrl-D lost.
      say(`${question} `);
      let isShown = false;
      try {
        const answer = await lines.question('', { signal: AbortSignal.any([signal, stop]) });
        isShown = !isHidden;
        return answer;
      } finally {
        lines.close();
        // A hidden Enter ends no line.
        if (!isShown) say('\n');
      }
    });

  async function search(question: string, find: Find): Promise<string> {
    for (let typed = ''; ; ) {
      const found = await find(typed, stop);
      const shown = found.slice(0, MAX_CHOICES);
      const more = found.length - shown.length;
      const lines = [question, ...shown.map(({ name }, at) => `${at + 1}. ${name}`)];
      if (more > 0) lines.push(`${more} more are not shown: type a part of the name`);
      if (found.length === 0) lines.push('nothing was found');
      say(`${lines.join('\n')}\n`);
      typed = (await read('a number, or a part of the name:')).trim();
      const chosen = shown[Number(typed) - 1];
      if (chosen !== undefined) return chosen.value;
    }
  }

  return {
    confirm: async (question) => /^y(es)?$/i.test((await read(`${question} (y/N)`)).trim()),
    type: (question) => read(question),
    secret: (question) => read(`${question} (not shown)`, true),
    choose: (question, choices) =>
      search(question, async (typed) => choices.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()))),
    search,
  };
}
