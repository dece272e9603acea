import { type Command, type CommandEntry, describeOption, type Parameter } from '../command.ts';
import { type GlobalOption, globalOptions } from '../global-options.ts';
import { wrap } from '../output/words.ts';
import type { NeededScope } from '../request/needed-scopes.ts';
import { commandEntries, type Group, groups } from '../tree.ts';
import { type HelpView, heading, optionRow, type Row, section, withoutBrackets } from './section.ts';
import { topics } from './topics.ts';

/** The page of a command; with null the page of `lkm` or of a group. */
export async function helpPage(path: string, command: Command | null, view: HelpView): Promise<string> {
  if (command !== null) {
    const { neededScopes } = await import('../request/needed-scopes.ts');
    const { fileOptions } = await import('../bulk/options.ts');
    return commandHelp(command, neededScopes(command), fileOptions, view);
  }
  const group = groups.find(({ name }) => path === `lkm ${name}`);
  return group === undefined ? rootHelp(view) : groupHelp(group, view);
}

export function rootHelp(view: HelpView): string {
  const options: readonly GlobalOption[] = [...globalOptions, helpOption, versionOption];
  const forOperators = groups.filter(({ isForOperators }) => isForOperators);
  return [
    'licence keys: issue, inspect, sign and free them\n',
    'Usage:  lkm COMMAND [options]\n',
    section('Start here', [...start.map(commandRow), ...login.map(shortcutRow), ...search.map(commandRow)], view),
    section('Resources', groups.filter(({ isForOperators }) => !isForOperators).map(groupRow), view),
    section('Numbers', numbers.map(commandRow), view),
    section('For operators, on the database itself', forOperators.map(groupRow), view),
    section('More', [...otherShortcuts.map(shortcutRow), ...others.map(commandRow)], view),
    section('Options of every command', options.map(globalRow), view),
    section('Examples', examples, view),
    ...wrap(closing, view.columns),
    '',
  ].join('\n');
}

const helpOption = { usage: '-h, --help', describe: 'show help' };
const versionOption = { usage: '-V, --version', describe: 'show the version' };

/** Variables have a page of their own: `lkm help environment`. */
const globalRow = ({ env: _, ...option }: GlobalOption): Row =>
  optionRow({ ...option, describe: describeOption(option) });

const examples: readonly Row[] = [
  ['lkm quickstart', 'see it all work'],
  ['KEY=$(lkm keys create -P "$ID" --db lkm.db)', 'issue a key'],
  ['lkm keys get "$KEY" --db lkm.db', 'see who uses it'],
];

const topicNames = Object.keys(topics);
const closing = `lkm COMMAND --help shows one command. lkm help TOPIC explains ${topicNames.slice(0, -1).join(', ')} and ${topicNames.at(-1)}.`;

const start = ['quickstart', 'serve'];
const search = ['find'];
const numbers = ['stats'];
const isLogin = ({ shortcut }: CommandEntry): boolean => shortcut === 'login';
/** Commands without a group that no other section lists. */
const others = commandEntries
  .map(({ path }) => path)
  .filter((path) => !path.includes(' ') && ![...start, ...search, ...numbers].includes(path));

const shortcuts = commandEntries.filter(({ shortcut }) => shortcut !== undefined);
const login = shortcuts.filter(isLogin);
const otherShortcuts = shortcuts.filter((entry) => !isLogin(entry));

const shortcutRow = ({ shortcut = '', path, summary }: CommandEntry): Row => [shortcut, `${summary}: ${path}`];

const groupRow = ({ name }: Group): Row => [name, commandsOf(name).map(verbOf).join(', ')];

const commandRow = (path: string): Row => [path, commandEntries.find((entry) => entry.path === path)?.summary ?? ''];

const commandsOf = (group: string) => commandEntries.filter(({ path }) => path.startsWith(`${group} `));

const verbOf = ({ path }: CommandEntry): string => path.slice(path.indexOf(' ') + 1);

function groupHelp({ name, alias, summary }: Group, view: HelpView): string {
  const also = (words: string | undefined): string => (words ? ` (also: ${words})` : '');
  const entries = commandsOf(name).map((entry): Row => {
    const { alias, shortcut, summary } = entry;
    return [verbOf(entry), summary + also(alias ?? (shortcut && `lkm ${shortcut}`))];
  });
  return [
    `${summary}\n`,
    `Usage:  lkm ${name} COMMAND [options]${alias ? `    (also: lkm ${alias})` : ''}\n`,
    section('Commands', entries, view),
    `lkm ${name} COMMAND --help shows one command.`,
    '',
  ].join('\n');
}

function commandHelp(
  command: Command,
  scopes: readonly NeededScope[],
  fileOptions: readonly Parameter[],
  view: HelpView,
): string {
  const positional = Object.values(command.arguments).map((one): Row => [withoutBrackets(one.usage), one.describe]);
  const specs = Object.values(command.options);
  const rowOf = (spec: Parameter): Row =>
    optionRow({ usage: spec.kind === 'many' ? `${spec.usage}...` : spec.usage, describe: describeOption(spec) });
  const ofFiles = fileOptions.filter((spec) => specs.includes(spec)).map(rowOf);
  const options = specs.filter((spec) => !fileOptions.includes(spec)).map(rowOf);
  const fields = command.fields.map(({ name }) => name);
  const needed = scopes.map(({ scope, purpose }): Row => [scope, purpose]);
  const usage = ['lkm', command.path, ...positional.map(([name]) => name), '[options]'].join(' ');
  return [
    `${wrap(command.about, view.columns).join('\n')}\n`,
    `Usage:  ${usage}\n`,
    positional.length > 0 && section('Arguments', positional, view),
    section('Options', [...options, optionRow(helpOption)], view),
    ofFiles.length > 0 && section('Options for files', ofFiles, view),
    command.terms && section(command.terms.title, command.terms.rows, view),
    specs.some(({ kind }) => kind === 'many') && 'Options with ... may be given several times.\n',
    fields.length > 0 && heading('Fields for --fields (JSON is then flat)', view) + listed(fields, view),
    needed.length > 0 && section('Scopes of the token', needed, view),
    `${heading('Examples', view)}${command.examples.map((example) => exampleLines(example, view)).join('')}`,
    'lkm --help shows the options of every command.\n',
  ]
    .filter(Boolean)
    .join('\n');
}

const listed = (names: readonly string[], { columns }: HelpView): string =>
  wrap(names.join(', '), columns - 4)
    .map((line) => `  ${line}\n`)
    .join('');

const exampleLines = ([line, does]: readonly [string, string], { paint }: HelpView): string =>
  `  ${paint.dim(`# ${does}`)}\n  ${paint.dim('$')} ${line}\n`;

/** Turns `help keys create` into `keys create --help`, and `help` into `--help`; leaves topics unchanged. */
export function expandHelp(argv: readonly string[]): string[] {
  const [first, ...words] = argv;
  const [word] = words;
  if (first !== 'help') return [...argv];
  const isCommand =
    word === undefined ||
    commandEntries.some(({ path, shortcut }) => path === word || shortcut === word) ||
    groups.some(({ name, alias }) => name === word || alias === word);
  return isCommand ? [...words, '--help'] : [...argv];
}
