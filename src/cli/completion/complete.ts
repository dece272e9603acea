import { type Command, type CommandEntry, nameOf, type Parameter } from '../command.ts';
import { globalOptions } from '../global-options.ts';
import type { Io } from '../io.ts';
import { isPlainName, isPlainWord } from '../output/words.ts';
import { commandEntries, groups } from '../tree.ts';
import { type Candidate, describeObjects } from './objects.ts';

export type Completion = readonly Candidate[] | 'files';

/** Returns candidates for the last of the words after `lkm`, which is being typed and may be empty. */
export async function complete(words: readonly string[], io: Io): Promise<Completion> {
  const word = words.at(-1) ?? '';
  const line = await readLine(words.slice(0, -1));
  const [option, before] = optionInFrontOf(word, line);
  const typed = word.slice(before.length);
  const found = await (option === undefined ? candidatesFor(typed, line, io) : valuesOf(option, typed, line, io));
  if (found === 'files') return found;
  const offered = found.flatMap((candidate) => beginningWith(typed, candidate));
  return offered.map(({ word, ...more }) => ({ ...more, word: before + word }));
}

/** A candidate as the shell offers it: by a name that begins with the typed text, else by its word. */
function beginningWith(typed: string, { word, about, names = [] }: Candidate): readonly Candidate[] {
  const name = names.find((one) => one.startsWith(typed));
  if (name !== undefined) return [{ word: name, about: word, isName: true }];
  return word.startsWith(typed) ? [{ word, ...(about !== undefined && { about }) }] : [];
}

async function candidatesFor(typed: string, line: Line, io: Io): Promise<Completion> {
  const { path, command, positional } = line;
  if (typed.startsWith('-')) return flagsOf(command).map(({ name, describe }) => ({ word: name, about: describe }));
  if (command === undefined) return wordsAfter(path);
  const specs = Object.values(command.arguments);
  const last = specs.at(-1);
  const spec = specs[positional.length] ?? (last?.usage.includes('...') ? last : undefined);
  return spec === undefined ? [] : valuesOf({ ...spec, name: spec.usage }, typed, line, io);
}

/**
 * Prints one line per candidate: the word, a tab, and its description. Words that a shell would not read as one plain word
 * are left out: people other than the user have chosen them. Names may have spaces, which the scripts quote.
 */
export function printCompletion(completion: Completion): string {
  if (completion === 'files') return `${FILES}\n`;
  const plain = completion.filter(({ word, isName }) => isPlainWord(word) || (isName && isPlainName(nameIn(word))));
  return plain.map(({ word, about }) => `${word}${about === undefined ? '' : `\t${about}`}\n`).join('');
}

/** A name without the option in front of it. */
const nameIn = (word: string): string => word.replace(/^--[a-z-]+=/, '');

export const FILES = ':files';

/** What the words before the cursor say. */
interface Line {
  path: readonly string[];
  entry: CommandEntry | undefined;
  command: Command | undefined;
  readonly positional: string[];
  readonly given: Record<string, string>;
  /** The option that still waits for its value. */
  open: Flag | undefined;
}

/** The parts of an option or an argument that completion needs. */
interface Flag extends Pick<Parameter, 'usage' | 'describe' | 'field' | 'choices' | 'takesList' | 'takesName'> {
  readonly name: string;
}

async function readLine(words: readonly string[]): Promise<Line> {
  const line: Line = { path: [], entry: undefined, command: undefined, positional: [], given: {}, open: undefined };
  for (const word of words) {
    if (isValueOfOption(word, line)) continue;
    if (word.startsWith('-')) readOption(word, line);
    else if (line.entry !== undefined) line.positional.push(word);
    else await readWord(word, line);
  }
  return line;
}

/** Gives the word to the option that waits for a value, unless it begins the next option. */
function isValueOfOption(word: string, line: Line): boolean {
  const { open, given } = line;
  if (open === undefined) return false;
  const isValue = mayBeValue(open, word);
  given[open.name] = isValue ? word : '';
  line.open = undefined;
  return isValue;
}

function readOption(word: string, line: Line): void {
  const [, form = word, value] = /^([^=]*)=(.*)$/s.exec(word) ?? [];
  const flag = flagNamed(form, line.command);
  if (flag === undefined) return;
  if (value === undefined && placeholderOf(flag) !== undefined) line.open = flag;
  else line.given[flag.name] = value ?? '';
}

/** Reads the next word of the name of a command. */
async function readWord(word: string, line: Line): Promise<void> {
  line.path = [...line.path, ownWord(word, line.path)];
  const path = line.path.join(' ');
  line.entry = commandEntries.find((one) => one.path === path || one.shortcut === path);
  line.command = await line.entry?.load();
}

/** Whether a word after an option can be its value. If the value is optional, `-…` is the next option. */
const mayBeValue = ({ usage }: Flag, word: string): boolean => !(usage.includes('[') && word.startsWith('-'));

/** The word of the tree for a typed word, which may be an alias. */
function ownWord(word: string, path: readonly string[]): string {
  if (path.length === 0) return groups.find(({ alias }) => alias === word)?.name ?? word;
  const group = path.join(' ');
  const aliased = commandEntries.find((entry) => entry.alias === word && entry.path.startsWith(`${group} `));
  return aliased?.path.slice(group.length + 1) ?? word;
}

function wordsAfter(path: readonly string[]): Candidate[] {
  const start = path.map((word) => `${word} `).join('');
  const entries = commandEntries.filter((entry) => entry.path.startsWith(start));
  const last = entries.map((entry) => ({ word: entry.path.slice(start.length), about: entry.summary }));
  if (path.length > 0) return last;
  const shortcuts = entries.flatMap(({ shortcut, summary }) => (shortcut ? [{ word: shortcut, about: summary }] : []));
  const single = last.filter(({ word }) => !word.includes(' '));
  return [...groups.map(({ name, summary }) => ({ word: name, about: summary })), ...single, ...shortcuts];
}

/** The options of a command, then the global options. */
const flagsOf = (command: Command | undefined): Flag[] =>
  [
    ...Object.values(command === undefined ? {} : command.options),
    ...globalOptions,
    { usage: '-h, --help', describe: 'show help' },
  ].map((option) => ({ ...option, name: nameOf(option) }));

const flagNamed = (form: string, command: Command | undefined): Flag | undefined =>
  flagsOf(command).find(({ usage }) => usage.split(/[ ,]+/).includes(form));

/** The first placeholder of a usage: `FILE` of `-o, --output <FILE>`, `PROFILE` of `[PROFILE]`; none for a switch. */
const placeholderOf = ({ usage }: Flag): string | undefined => /[<[]+([A-Z]+)/.exec(usage)?.[1];

/** The option whose value is being typed, and the text before the value, or before the last value of a list; else no text. */
function optionInFrontOf(typed: string, { open, command }: Line): [option: Flag | undefined, before: string] {
  const isOpen = open !== undefined && mayBeValue(open, typed);
  const [start = '', form = ''] = isOpen ? [] : (/^(--[a-z-]+)=/.exec(typed) ?? []);
  const option = isOpen ? open : flagNamed(form, command);
  if (option === undefined) return [undefined, ''];
  return [option, option.takesList ? start + typed.slice(start.length, typed.lastIndexOf(',') + 1) : start];
}

async function valuesOf(flag: Flag, typed: string, line: Line, io: Io): Promise<Completion> {
  const { name, field, choices, takesName = false } = flag;
  if (field && !choices) {
    const objects = await describeObjects(field, typed, line.given, io);
    // Every option for a product takes a name.
    return takesName || field === 'productId' ? objects : objects.map(({ names: _, ...object }) => object);
  }
  const placeholder = placeholderOf(flag) ?? '';
  const words = choices ?? (await (wordsOf[name] ?? wordsOf[placeholder])?.(io));
  if (words !== undefined) return words.map((word) => ({ word }));
  return ['FILE', 'PATH', 'DIR', 'DB'].includes(placeholder) ? 'files' : [];
}

/** Values that are not objects of the service, by the name of the option or by the placeholder in the help. */
const wordsOf: Readonly<Record<string, (io: Io) => Promise<readonly string[]>>> = {
  '--profile': profileNames,
  PROFILE: profileNames,
  SETTING: async () => Object.keys((await import('../config/stored-settings.ts')).storable),
  TOPIC: async () => Object.keys((await import('../help/topics.ts')).topics),
};

async function profileNames(io: Io): Promise<readonly string[]> {
  const { readConfig } = await import('../config/config-file.ts');
  return Object.keys((await readConfig(io)).profiles);
}
