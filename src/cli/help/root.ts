import { globalOptions } from '../global-options.ts';
import { type Group, groups, leaves } from '../tree.ts';
import { type HelpView, optionRow, type Row, section, wrap } from './section.ts';

/** The page of `lkm` alone. */
export function rootHelp(view: HelpView): string {
  const options = [
    ...globalOptions,
    { flags: '-h, --help', describe: 'show help' },
    { flags: '-V, --version', describe: 'show the version' },
  ];
  const forOperators = groups.filter(({ isForOperators }) => isForOperators);
  return [
    'licence keys: issue, inspect, sign and free them\n',
    'Usage:  lkm COMMAND [options]\n',
    section('Start here', ['quickstart', 'serve'].map(leafRow), view),
    section('Resources', groups.filter(({ isForOperators }) => !isForOperators).map(groupRow), view),
    section('For operators, on the database itself', forOperators.map(groupRow), view),
    section('More', ['version', 'help'].map(leafRow), view),
    section('Options of every command', options.map(optionRow), view),
    section('Examples', examples, view),
    ...wrap(closing, view.columns),
    '',
  ].join('\n');
}

const examples: readonly Row[] = [
  ['lkm quickstart', 'see it all work'],
  ['KEY=$(lkm keys create -P "$ID" --db lkm.db)', 'issue a key'],
  ['lkm keys get "$KEY" -P "$ID" --db lkm.db', 'see who uses it'],
];

const closing =
  'lkm COMMAND --help shows one command. lkm help TOPIC explains environment, exit-codes, formatting, idempotency ' +
  'and ci.';

const groupRow = ({ name }: Group): Row => [name, verbsOf(name).join(', ')];

function leafRow(path: string): Row {
  return [path, leaves.find((leaf) => leaf.path === path)?.summary ?? ''];
}

const verbsOf = (group: string): string[] =>
  leaves.filter(({ path }) => path.startsWith(`${group} `)).map(({ path }) => path.slice(group.length + 1));
