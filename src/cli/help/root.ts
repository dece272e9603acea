import { globalOptions } from '../global-options.ts';
import { type Group, groups, leaves } from '../tree.ts';
import { optionRow, type Row, section } from './section.ts';

/** The page of `lkm` alone. */
export function rootHelp(): string {
  const options = [
    ...globalOptions,
    { flags: '-h, --help', describe: 'show help' },
    { flags: '-V, --version', describe: 'show the version' },
  ];
  return [
    'licence keys: issue, inspect, sign and free them\n',
    'Usage:  lkm COMMAND [options]\n',
    section('Start here', ['quickstart', 'serve'].map(leafRow)),
    section('Resources', groups.filter(({ isForOperators }) => !isForOperators).map(groupRow)),
    section(
      'For operators, on the database itself',
      groups.filter(({ isForOperators }) => isForOperators).map(groupRow),
    ),
    section('More', ['version', 'help'].map(leafRow)),
    section('Options of every command', options.map(optionRow)),
    section('Examples', [
      ['lkm quickstart', 'see it all work'],
      ['KEY=$(lkm keys create -P "$ID" --db lkm.db)', 'issue a key'],
      ['lkm keys get "$KEY" -P "$ID" --db lkm.db', 'see who uses it'],
    ]),
    'lkm COMMAND --help shows one command. lkm help TOPIC explains environment,',
    'exit-codes, formatting, idempotency and ci.',
    '',
  ].join('\n');
}

const groupRow = ({ name }: Group): Row => [name, verbsOf(name).join(', ')];

function leafRow(path: string): Row {
  return [path, leaves.find((leaf) => leaf.path === path)?.summary ?? ''];
}

const verbsOf = (group: string): string[] =>
  leaves.filter(({ path }) => path.startsWith(`${group} `)).map(({ path }) => path.slice(group.length + 1));
