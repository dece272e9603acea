import { rows } from './section.ts';

const formatRows = [
  ['table', 'for people: the default on a terminal'],
  ['tsv', 'tabs, no header, nothing cut: the default in a pipe'],
  ['csv', 'commas and a header, for spreadsheets'],
  ['json', "the service's own names; --json is short for it"],
  ['jsonl', 'a JSON object per line'],
  ['env', "LKM_NAME='value' lines, for eval"],
] as const;

export const formatting = (): string =>
  [
    'stdout carries the answer alone; everything else goes to stderr.\n',
    rows(formatRows),
    'A command that answers one value, such as keys create, prints it bare in table',
    'and tsv, with or without a terminal: KEY=$(lkm keys create -P "$PRODUCT")',
    '',
    '--fields id,email chooses and orders; a name that does not exist lists those',
    'that do. -q prints bare identifiers. -o FILE writes the answer to a file, whole',
    'or not at all, readable by its owner only when it holds a secret; a file that',
    'exists is kept unless --force is given.',
    '',
    'Outside of a table an instant is ISO 8601 in UTC, and null is empty. Characters',
    'that control a terminal are shown as \\u{1b}. In csv a text that begins with',
    '= + - or @ gets an apostrophe before it, since a spreadsheet would run it.',
    '',
  ].join('\n');
