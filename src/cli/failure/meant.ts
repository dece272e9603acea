import { commandEntries, groups } from '../tree.ts';

/** More suggestions than these help nobody. */
const MAX_SUGGESTIONS = 3;

/** Verbs of other tools, with ours. */
const verbs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    show: 'get',
    view: 'get',
    describe: 'get',
    info: 'get',
    new: 'create',
    add: 'create',
    issue: 'create',
    generate: 'create',
    remove: 'delete',
    destroy: 'delete',
    edit: 'update',
    set: 'update',
    modify: 'update',
    move: 'rebind',
    validate: 'verify',
  }),
);

/** Names of other tools for the objects of our groups. */
const objects: ReadonlyMap<string, string> = new Map(
  Object.entries({
    license: 'keys',
    licenses: 'keys',
    licence: 'keys',
    licences: 'keys',
    activation: 'devices',
    activations: 'devices',
    machine: 'devices',
    machines: 'devices',
    database: 'db',
    profiles: 'auth',
  }),
);

/** Options of other tools, and fields of the API, with the options of ours that mean the same. */
const options: ReadonlyMap<string, string> = new Map(
  Object.entries({
    quantity: '--count',
    amount: '--count',
    seats: '--max-activations',
    devices: '--max-activations',
    'uses-per-key': '--max-activations',
    expiry: '--expires',
    expiration: '--expires',
    'expiry-date': '--expires',
    'expiration-date': '--expires',
    'expires-at': '--expires',
    machine: '--host-id',
    device: '--host-id',
    fingerprint: '--host-id',
    from: '--host-id',
    to: '--new-host-id',
    'license-type': '--type',
  }),
);

/** The commands that an unknown word may mean; `path` is the part that was understood: `lkm`, or `lkm keys`. */
export function commandsMeant(typed: string, path: string, argv: readonly string[]): readonly string[] {
  const verb = verbs.get(typed) ?? typed;
  const [, group] = path.split(' ');
  if (group !== undefined) return few(pathsOf(group, verb));
  const words = argv.filter((word) => !word.startsWith('-'));
  const next = words[words.indexOf(typed) + 1];
  const object = groupNamed(objects.get(typed));
  if (object !== undefined)
    return next === undefined ? [`lkm ${object}`] : few(pathsOf(object, verbs.get(next) ?? next));
  // Other tools have the verb first: `get keys`.
  const behind = next === undefined ? undefined : groupNamed(next);
  return few(behind === undefined ? pathsOf(undefined, verb) : pathsOf(behind, verb));
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
