import { asTyped, type Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { createPaint } from './paint.ts';
import type { Note } from './result.ts';
import { sanitise } from './text.ts';

/** Says something on stderr: never with `-q`, and in a JSON format warnings only. */
export async function talk(notes: readonly Note[], settings: Settings, io: Io): Promise<void> {
  const isJson = settings.format === 'json' || settings.format === 'jsonl';
  const said = notes.filter(({ tone }) => !settings.quiet && (!isJson || tone === 'warning'));
  if (said.length === 0) return;
  const paint = createPaint(settings.color.stderr);
  const lead = { done: '', hint: '', warning: paint.yellow('warning: ') };
  const color = { done: paint.green, hint: paint.dim, warning: (text: string) => text };
  const lines = said.flatMap(({ tone, text }) =>
    asTyped(text, io.env)
      .split('\n')
      .map((line) => `${lead[tone]}${color[tone](sanitise(line))}\n`),
  );
  await io.stderr.write(lines.join(''));
}
