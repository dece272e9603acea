import { commandEntries, groups } from '../tree.ts';

/** More suggestions than these help nobody. */
const MAX_SUGGESTIONS = 3;

/** Fields of the API, as options are written, with the options that mean the same. */
const options: ReadonlyMap<string, string> = new Map([
  ['uses-per-key', '--max-activations'],
  ['expiry-date', '--expires'],
  ['expiration-date', '--expires'],
  ['expires-at', '--expires'],
  ['license-type', '--type'],
]);

/** The commands that an unknown word may mean; `path` is the part that was understood: `lkm`, or `lkm keys`. */
export function commandsMeant(typed: string, path: string, argv: readonly string[]): readonly string[] {
  const [, group] = path.split(' ');
  if (group !== undefined) return few(pathsOf(group, typed));
  const words = argv.filter((word) => !word.startsWith('-'));
  // Other tools have the verb first: `get keys`.
  return few(pathsOf(groupNamed(words[words.indexOf(typed) + 1]), typed));
}

/** Whole commands of a group, or of all, whose last word or its short form is `verb`. */
function pathsOf(group: string | undefined, verb: string): string[] {
  return commandEntries
    .filter(({ path }) => group === undefined || path.startsWith(`${group} `))
    .filter(({ path, alias }) => path.endsWith(` ${verb}`) || alias === verb)
    .map(({ path }) => `lkm ${path}`);
}

const groupNamed = (word: string | undefined): string | undefined =>
  groups.find(({ name, alias }) => word !== undefined && (name === word || alias === word))?.name;

/** The options of a command, of those in `known`, that an unknown one may mean. */
export function optionsMeant(typed: string, known: readonly string[]): readonly string[] {
  const name = typed.replace(/^--/, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const words = new Set(name.split('-'));
  const wordsOf = (option: string) => new Set(option.replace(/^--/, '').split('-'));
  const findings = [
    known.filter((option) => option === `--${name}` || option === options.get(name)),
    known.filter((option) => words.isSubsetOf(wordsOf(option))),
    known.filter((option) => !words.has('no') && wordsOf(option).isSubsetOf(words)),
  ];
  return few(findings.find((found) => found.length > 0) ?? []);
}

const few = (found: readonly string[]): readonly string[] => (found.length > MAX_SUGGESTIONS ? [] : found);
