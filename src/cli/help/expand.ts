import { groups, leaves } from '../tree.ts';

/** A topic that has the name of a resource. */
const namesake = 'idempotency';

/** Reads `help keys create` as `keys create --help`, and `help` alone as `--help`; a topic stays as it is. */
export function expandHelp(argv: readonly string[]): string[] {
  const [first, ...words] = argv;
  if (first !== 'help' || (words.length === 1 && words[0] === namesake)) return [...argv];
  const [word] = words;
  const isCommand =
    word === undefined ||
    leaves.some(({ path }) => path === word) ||
    groups.some(({ name, alias }) => name === word || alias === word);
  return isCommand ? [...words, '--help'] : [...argv];
}
