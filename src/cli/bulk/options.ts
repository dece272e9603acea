import { flag, many, option } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import type { Field } from '../output/result.ts';
import { dateFormats } from '../values/date-format.ts';
import { parseWhole } from '../values/scalars.ts';
import { parseEncoding, trimmed } from '../values/text.ts';
import { systems } from './reading/presets/systems.ts';

export const delimiterNames = ['comma', 'semicolon', 'tab', 'pipe'] as const;

export const readingOptions = {
  map: many('--map <COLUMN=FIELD>', 'the field of a column of the file; COLUMN= leaves it out', {
    parse: parseMapping,
  }),
  ignoreUnknown: flag('--ignore-unknown', 'leave out unknown columns of the file, and list them'),
  delimiter: option('--delimiter <NAME>', 'the character between cells of the file; detected unless given', {
    choices: delimiterNames,
  }),
  encoding: option(
    '--encoding <NAME>',
    'the encoding of the file, such as windows-1250; UTF-8, UTF-16 and Windows-1252 are recognised',
    { parse: parseEncoding },
  ),
  dateFormat: option(
    '--date-format <ORDER>',
    'how the file writes dates, besides 2027-12-31; epoch is seconds since 1970, from 1e11 on milliseconds',
    { choices: dateFormats },
  ),
  noDate: many('--no-date <VALUE>', 'a value in the file that means no date, such as 0001-01-01'),
  mapFrom: option('--map-from <NAME>', 'read the file with the options that --save-map has kept', parseName),
};

const MAX_CONCURRENCY = 256;

export const bulkOptions = {
  file: many(
    '-f, --file <PATH>',
    'a row each: CSV with a header, JSON lines or a JSON array; - for stdin; several follow each other',
  ),
  ...readingOptions,
  saveMap: option(
    '--save-map <NAME>',
    'keep --map, --date-format and the other options for reading the file under this name',
    parseName,
  ),
  skipInvalid: flag(
    '--skip-invalid',
    'leave out rows of the file that cannot be sent as they are, and do the rest (exit code 12)',
  ),
  run: option('--run <NAME>', 'do all rows once more, as another run with this name', parseName),
  concurrency: option('--concurrency <N>', 'the most rows that are sent at one time (96)', {
    parse: (text: string) => parseWhole(text, 1, MAX_CONCURRENCY),
  }),
};

export const systemOptions = {
  from: option('--from <SYSTEM>', 'the system that wrote the files', { choices: systems }),
  deviceFiles: many('--devices <PATH>', 'a file with the devices of the keys, if they are in another file'),
  productMap: many('--product-map <OLD=NEW>', 'the product, by its id or name, in place of OLD in the files', {
    parse: parseMapping,
  }),
  testKeys: flag('--test-keys', 'with --from: also keys of tests'),
};

export const restartOption = flag(
  '--restart',
  'do all rows again, when it is too late (after 23h) to finish an interrupted run',
);

/** The options about files and their rows, which the help page of a command shows behind its own, in this order. */
export const fileOptions = [systemOptions, bulkOptions, { restartOption }].flatMap((options) => Object.values(options));

export const isBulk = ({ file, count }: Readonly<Record<string, unknown>>): boolean =>
  file !== undefined || count !== undefined;

export function parseMapping(text: string): readonly [column: string, field: string] {
  const at = text.lastIndexOf('=');
  if (at < 1) throw new UsageError(`'${text.slice(0, 40)}' is not COLUMN=FIELD`);
  return [trimmed(text.slice(0, at)), text.slice(at + 1).trim()];
}

function parseName(text: string): string {
  if (/^[\w.:@-]{1,64}$/.test(text)) return text;
  throw new UsageError('a name has 1 to 64 letters, digits and . : @ _ -');
}

export const errorField: Field = { name: 'error', of: ({ error }) => Object(error).message ?? null, cuts: true };

/** The fields of results. The columns of a file come first; only `--fields` shows row number and line. */
export const resultFields = (fields: readonly Field[]): readonly Field[] => [
  { name: 'row', isNumber: true },
  { name: 'status' },
  ...fields,
  errorField,
  { name: 'line', isNumber: true, shown: 'chosen' },
];

/** The fields of a command for one object or a file; only `--fields` shows the fields of rows. */
export const orInBulk = (own: readonly Field[], ofRows: readonly Field[] = []) => ({
  fields: [
    ...own,
    ...resultFields(ofRows)
      .filter(({ name }) => own.every((field) => field.name !== name))
      .map((field): Field => ({ ...field, shown: 'chosen' })),
  ],
  ownsOutput: isBulk,
});
