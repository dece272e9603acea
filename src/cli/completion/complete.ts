import { type ArgumentSpec, type Command, type CommandEntry, type OptionSpec, optionsOf } from '../command.ts';
import { globalOptions } from '../global-options.ts';
import type { Io } from '../io.ts';
import { isPlainWord } from '../output/words.ts';
import { commandEntries, groups } from '../tree.ts';
import { type Candidate, describeObjects, type GivenOptions } from './objects.ts';

/** The words that may come next, or that the name of a file may. */
export type Completion = readonly Candidate[] | 'files';

/**
 * The words with which a command line may go on.
 *
 * @param words after `lkm`; the last one is being typed, and may be empty
 */
export async function complete(words: readonly string[], io: Io): Promise<Completion> {
  const line = await readLine(words.slice(0, -1));
  const typed = words.at(-1) ?? '';
  const { option, word } = optionInFrontOf(typed, line);
  if (option !== undefined) {
    const prefix = typed.slice(0, typed.length - word.length);
    const values = await valuesOf(option, word, line, io);
    return values === 'files' ? values : values.map(({ word, ...more }) => ({ word: prefix + word, ...more }));
  }
  if (typed.startsWith('-')) return startingWith(typed, flagsOf(line));
  if (line.command === undefined) return wordsAfter(line, typed);
  const spec = argumentAt(line.command, line.positional.length);
  return spec === undefined ? [] : valuesOf(spec, typed, line, io);
}

/**
 * What the completion prints for the shell: a candidate a line, with a tab before what it is. A shell may insert a word as
 * it is, and somebody else may have chosen it: those that a shell would not take for one plain word are left out.
 */
export function printCompletion(completion: Completion): string {
  if (completion === 'files') return `${FILES}\n`;
  const plain = completion.filter(({ word }) => isPlainWord(word));
  return plain.map(({ word, about }) => `${word}${about === undefined ? '' : `\t${about}`}\n`).join('');
}

/** Stands for the names of files. */
export const FILES = ':files';

/** A command line as far as it was typed. */
interface Line {
  /** The words of the command, as far as they lead into the tree. */
  readonly path: readonly string[];
  readonly entry: CommandEntry | undefined;
  readonly command: Command | undefined;
  readonly positional: readonly string[];
  /** The options that were given, by their long form, with their values. */
  readonly given: GivenOptions;
  /** The option that still waits for its value. */
  readonly open: Flag | undefined;
}

/** An option as it is looked up: its forms, and whether it takes a value. */
interface Flag {
  /** The long one is the last. */
  readonly forms: readonly string[];
  /** What stands for its value in the help, such as `FILE`; undefined for a switch. */
  readonly placeholder?: string | undefined;
  readonly isValueOptional?: boolean;
  readonly about: string;
  readonly spec?: OptionSpec;
}

async function readLine(words: readonly string[]): Promise<Line> {
  const path: string[] = [];
  const positional: string[] = [];
  const given: Record<string, string> = {};
  let command: Command | undefined;
  let entry: CommandEntry | undefined;
  let open: Flag | undefined;
  for (const word of words) {
    if (open !== undefined) {
      const isValue = mayBeValue(open, word);
      given[open.forms.at(-1) ?? ''] = isValue ? word : '';
      open = undefined;
      if (isValue) continue;
    }
    if (word.startsWith('-')) {
      const [, form = word, value] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
      const flag = [...globalFlags, ...ownFlags(command)].find(({ forms }) => forms.includes(form));
      if (flag?.placeholder !== undefined && value === undefined) open = flag;
      else if (flag !== undefined) given[flag.forms.at(-1) ?? ''] = value ?? '';
      continue;
    }
    if (entry !== undefined) {
      positional.push(word);
      continue;
    }
    path.push(nameOf(word, path));
    entry = commandEntries.find((one) => one.path === path.join(' ') || one.shortcut === path.join(' '));
    command = await entry?.load();
  }
  return { path, entry, command, positional, given, open };
}

/** Whether a word behind an option can be its value: an option that needs none is a switch in front of another. */
const mayBeValue = ({ isValueOptional }: Flag, word: string): boolean => !(isValueOptional && word.startsWith('-'));

/** A word of the tree by its own name, where an alias was typed. */
function nameOf(word: string, path: readonly string[]): string {
  if (path.length === 0) return groups.find(({ alias }) => alias === word)?.name ?? word;
  const group = path.join(' ');
  const aliased = commandEntries.find((entry) => entry.alias === word && entry.path.startsWith(`${group} `));
  return aliased?.path.slice(group.length + 1) ?? word;
}

/** The groups and commands that may follow. */
function wordsAfter({ path }: Line, typed: string): Candidate[] {
  if (path.length === 0) {
    const single = commandEntries.flatMap(({ path, shortcut, summary }) => [
      ...(path.includes(' ') ? [] : [{ word: path, about: summary }]),
      ...(shortcut ? [{ word: shortcut, about: summary }] : []),
    ]);
    return startingWith(typed, [...groups.map(({ name, summary }) => ({ word: name, about: summary })), ...single]);
  }
  const start = `${path.join(' ')} `;
  const verbs = commandEntries.filter((entry) => entry.path.startsWith(start));
  return startingWith(
    typed,
    verbs.map((entry) => ({ word: entry.path.slice(start.length), about: entry.summary })),
  );
}

const flagsOf = ({ command }: Line): Candidate[] =>
  [...ownFlags(command), ...globalFlags].map(({ forms, about }) => ({ word: forms.at(-1) ?? '', about }));

const ownFlags = (command: Command | undefined): Flag[] =>
  Object.values(command === undefined ? {} : optionsOf(command)).map((spec) => ({
    ...formsOf(spec.flags),
    about: spec.describe,
    spec,
  }));

const globalFlags: readonly Flag[] = [
  ...globalOptions.map(({ flags, describe }) => ({ ...formsOf(flags), about: describe })),
  { forms: ['-h', '--help'], about: 'show help' },
];

/** Reads `-P, --product <ID>`. */
function formsOf(flags: string): Pick<Flag, 'forms' | 'placeholder' | 'isValueOptional'> {
  const forms = flags.match(/--?[A-Za-z][A-Za-z-]*/g) ?? [];
  return { forms, placeholder: placeholderOf(flags), isValueOptional: flags.includes('[') };
}

/** The first placeholder of a usage: `FILE` of `-o, --output <FILE>`, `PROFILE` of `[PROFILE]`. */
function placeholderOf(usage: string): string | undefined {
  return /[<[]+([A-Z]+)/.exec(usage)?.[1];
}

/** The option whose value is being typed, and that value as far as it is there; of a list, its last one. */
function optionInFrontOf(typed: string, line: Line): { option?: Flag | undefined; word: string } {
  if (line.open !== undefined && mayBeValue(line.open, typed))
    return { option: line.open, word: lastOf(line.open, typed) };
  const [, form, word = ''] = /^(--[a-z-]+)=(.*)$/s.exec(typed) ?? [];
  if (form === undefined) return { word: typed };
  const option = [...ownFlags(line.command), ...globalFlags].find(({ forms }) => forms.includes(form));
  return { option, word: lastOf(option, word) };
}

const lastOf = (option: Flag | undefined, typed: string): string =>
  option?.spec?.takesList ? typed.slice(typed.lastIndexOf(',') + 1) : typed;

const argumentAt = (command: Command, index: number): ArgumentSpec | undefined => {
  const specs = Object.values(command.arguments);
  const last = specs.at(-1);
  return specs[index] ?? (last?.usage.includes('...') ? last : undefined);
};

/** The values that an option or an argument may have. */
async function valuesOf(what: Flag | ArgumentSpec, typed: string, line: Line, io: Io): Promise<Completion> {
  const spec = 'usage' in what ? what : what.spec;
  if (spec?.choices)
    return startingWith(
      typed,
      spec.choices.map((word) => ({ word })),
    );
  if (spec?.field) return startingWith(typed, await describeObjects(spec.field, line.given, io));
  const placeholder = 'usage' in what ? placeholderOf(what.usage) : what.placeholder;
  const name = 'usage' in what || what.spec !== undefined ? placeholder : what.forms.at(-1);
  const listed = wordsOf[name ?? ''];
  if (listed !== undefined)
    return startingWith(
      typed,
      (await listed(io)).map((word) => ({ word })),
    );
  return filePlaceholders.includes(placeholder) ? 'files' : [];
}

const filePlaceholders: readonly (string | undefined)[] = ['FILE', 'PATH', 'DIR', 'DB'];

/** The values of what the contract does not know: of a global option by its name, else by what stands for them in the help. */
const wordsOf: Readonly<Record<string, (io: Io) => Promise<readonly string[]>>> = {
  '--format': async () => (await import('../config/settings.ts')).formats,
  '--color': async () => ['auto', 'always', 'never'],
  '--profile': profileNames,
  PROFILE: profileNames,
  SETTING: async () => Object.keys((await import('../config/settings.ts')).storable),
  TOPIC: async () => Object.keys((await import('../help/topics.ts')).topics),
};

async function profileNames(io: Io): Promise<readonly string[]> {
  const { readConfig } = await import('../config/config-file.ts');
  return Object.keys((await readConfig(io)).profiles);
}

const startingWith = (typed: string, candidates: readonly Candidate[]): Candidate[] =>
  candidates.filter(({ word }) => word.startsWith(typed));
