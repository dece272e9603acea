import { argument, type CommandEntry, command } from '../command.ts';
import { type Shell, scripts } from '../completion/scripts.ts';
import { UsageError } from '../failure/errors.ts';
import { type Topic, topics } from '../help/topics.ts';
import type { View } from '../output/result.ts';
import { fieldsShown, listOf, namedRecord } from './results.ts';

export const version = command({
  about: 'Shows the versions of lkm, of Node.js, and of the contract they speak.',
  fields: ['lkm', 'node', 'contract'],
  examples: [
    ['lkm version', 'for a bug report'],
    ['lkm --version', 'the version of lkm alone'],
  ],

  async run(_, { io }) {
    const { apiVersion } = await import('../../contract/index.ts');
    const versions = { lkm: io.version, node: io.nodeVersion, contract: apiVersion };
    return namedRecord(versions, io.version);
  },
});

/** The commands are passed in, because the tree loads this file. */
export const commandsIn = (entries: readonly CommandEntry[]) =>
  command({
    about:
      'Lists every command. With --json for programs that type command lines: what it does, what it takes, what it prints ' +
      'with --json (a JSON Schema), and how it ends.',
    fields: [
      'command',
      'summary',
      ...fieldsShown('chosen', 'effect', 'confirms', 'scopes', 'exitCodes', 'arguments', 'options', 'result'),
    ],
    examples: [['lkm commands --json', 'all of them, for a program']],

    async run() {
      const { describeCommand } = await import('./described.ts');
      const rows = await Promise.all(
        entries.map(async ({ path, summary, load }) => {
          const loaded = await load();
          return {
            command: path,
            summary,
            ...describeCommand(loaded),
            arguments: Object.values(loaded.arguments).map(({ usage, describe }) => ({ usage, description: describe })),
            options: Object.values(loaded.options).map(({ usage, describe, choices, env }) => ({
              ...{ flags: usage, description: describe, choices, environment: env },
            })),
          };
        }),
      );
      return listOf(rows, 'there are no commands', { name: 'command' });
    },
  });

const names = Object.keys(topics).join(', ');

export const help = command({
  about: `Explains a topic: ${names}. With the words of a command it shows the help of that command.`,
  arguments: { topic: argument('<TOPIC>', 'a topic, or the words of a command') },
  fields: ['topic', 'text'],
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

const shells = Object.keys(scripts) as Shell[];

export const completion = command({
  about:
    `Prints a script with which TAB completes commands, options and values, among them the products, customers and ` +
    `tokens of the service. For ${shells.join(', ')}.`,
  arguments: { shell: argument('<SHELL>', 'the shell', { choices: shells }) },
  fields: ['shell', 'script'],
  examples: [
    ['source <(lkm completion bash)', 'in ~/.bashrc; zsh alike, in ~/.zshrc after compinit'],
    ['lkm completion fish -o ~/.config/fish/completions/lkm.fish', 'for fish'],
    ['lkm completion powershell', 'in $PROFILE: … | Out-String | Invoke-Expression'],
  ],

  async run({ shell }) {
    const name = shells.find((one) => one === shell);
    if (name === undefined) {
      throw new UsageError(`there is no completion for '${shell}'`, [`Shells: ${shells.join(', ')}`]);
    }
    const script = scripts[name]();
    return { kind: 'file', content: script, data: { shell: name, script }, quiet: [name] };
  },
});
