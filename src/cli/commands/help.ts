import { argument, command } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import { type Topic, topics } from '../help/topics.ts';
import type { View } from '../output/result.ts';

const names = Object.keys(topics).join(', ');

export const help = command({
  about: `Explains a topic: ${names}. With the words of a command it shows the help of that command.`,
  arguments: { topic: argument('<TOPIC>', 'a topic, or the words of a command') },
  fields: [{ name: 'topic' }, { name: 'text' }],
  examples: [
    ['lkm help exit-codes', 'a topic'],
    ['lkm help keys create', 'a command'],
  ],

  async run({ topic }) {
    const known: Readonly<Record<string, Topic>> = topics;
    const explain = Object.hasOwn(known, topic) ? known[topic] : undefined;
    if (!explain) throw new UsageError(`there is no topic '${topic}'`, [`Topics: ${names}`]);
    const draw = ({ columns, paint }: View) => explain({ columns: Math.min(columns, 100), paint });
    const row = { topic, text: explain() };
    return { kind: 'text', draw, rows: [row], data: row, quiet: [] };
  },
});
