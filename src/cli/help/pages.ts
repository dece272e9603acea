import type { Command as Commander, Help } from 'commander';
import type { Command } from '../command.ts';
import { leaves } from '../tree.ts';
import { withoutBrackets } from './brackets.ts';
import { optionRow, type Row, section, wrap } from './section.ts';

/** The page of a resource. */
export function groupHelp(self: Commander): string {
  const name = self.name();
  const commands = leaves.filter(({ path }) => path.startsWith(`${name} `));
  return [
    `${self.description()}\n`,
    `Usage:  lkm ${name} COMMAND [options]${self.alias() ? `    (also: lkm ${self.alias()})` : ''}\n`,
    section(
      'Commands',
      commands.map(({ path, alias, summary }) => [
        path.slice(name.length + 1),
        alias ? `${summary} (also: ${alias})` : summary,
      ]),
    ),
    `lkm ${name} COMMAND --help shows one command.`,
    '',
  ].join('\n');
}

/** The page of one command. */
export function leafHelp(self: Commander, helper: Help, command: Command): string {
  const positional = Object.values(command.arguments).map<Row>(({ usage, describe }) => [
    withoutBrackets(usage),
    describe,
  ]);
  const options = helper.visibleOptions(self).map(({ flags, description }) => ({ flags, describe: description }));
  const fields = (command.fields ?? []).map(({ name }) => name);
  return [
    `${wrap(command.about, 80).join('\n')}\n`,
    `Usage:  ${['lkm', command.path, ...positional.map(([name]) => name), '[options]'].join(' ')}\n`,
    ...(positional.length > 0 ? [section('Arguments', positional)] : []),
    section('Options', options.map(optionRow)),
    ...(fields.length > 0
      ? [
          `Fields\n${wrap(fields.join(', '), 76)
            .map((line) => `  ${line}\n`)
            .join('')}`,
        ]
      : []),
    `Examples\n${command.examples.map(([line, does]) => `  # ${does}\n  $ ${line}\n`).join('')}`,
    'lkm --help shows the options of every command.',
    '',
  ].join('\n');
}
