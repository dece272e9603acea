import type { CommanderError } from 'commander';
import { type Command, nameOf } from './command.ts';
import { UsageError } from './failure/errors.ts';
import { commandEntries } from './tree.ts';

/** Words and options that are never proposed, because their effect cannot be undone, or not by the same person. */
const destructive =
  /^(delete|revoke|rm|remove|transfer|rebind|reissue|release|deactivate|unlink|rekey|restore|rotate|logout|unset|import|--(create|force|yes|all-devices|last-admin|in-use|nobody|inactive|clear-.*|plain|no-.*))$/;

/** Wrong words that people type for an option. */
const optionSynonyms: Readonly<Record<string, readonly string[]>> = {
  '--max-activations': ['seats', 'slots', 'devices', 'machines', 'max-devices', 'max-seats', 'limit', 'activations'],
  '--max-sessions': ['concurrent', 'users', 'max-users'],
  '--expires': ['expiry', 'expire', 'expires-at', 'expiration', 'expiry-date', 'until', 'end', 'valid-until'],
  '--for': ['by', 'duration', 'lasts', 'add', 'period', 'extend'],
  '--lasts': ['duration', 'for', 'period', 'expires'],
  '--host-id': ['host', 'device', 'machine', 'hostid', 'device-id'],
  '--email': ['mail', 'e-mail', 'address'],
  '--new-customer-email': ['email', 'mail', 'e-mail', 'customer-email'],
  '--new-customer-name': ['customer-name', 'name', 'new-customer'],
  '--customer': ['user', 'owner', 'client', 'to', 'customer-id'],
  '--product': ['product-id', 'prod', 'app'],
  '--reference': ['order', 'order-id', 'ref', 'external-id', 'order-number'],
  '--reason': ['note', 'comment', 'message', 'why'],
  '--note': ['comment', 'reason', 'message', 'why'],
  '--text': ['search', 'query', 'find', 'filter', 'name'],
  '--name': ['title', 'label'],
  '--limit': ['max', 'count', 'number', 'top', 'first'],
  '--status': ['state', 'active', 'expired', 'blocked', 'unused'],
  '--file': ['input', 'csv', 'from-file'],
  '--type': ['event', 'events', 'kind'],
};

/** Wrong words that people type for a group, or for a command of the group before. */
const wordSynonyms: Readonly<Record<string, readonly string[]>> = {
  find: ['search', 'lookup', 'query'],
  serve: ['start', 'server', 'run'],
  login: ['log', 'signin', 'sign-in'],
  doctor: ['check', 'diagnose', 'status', 'health'],
  'db backup': ['backup', 'dump'],
  'keys create': ['issue', 'generate'],
  'keys list --text': ['search', 'find', 'lookup', 'query'],
  customers: ['user', 'users', 'client', 'clients', 'account', 'accounts'],
  devices: ['machine', 'machines', 'host', 'hosts', 'seats'],
  tokens: ['api-key', 'api-keys', 'apikeys'],
  webhooks: ['hook', 'hooks'],
  'list --text': ['search', 'find', 'lookup', 'query'],
  list: ['show', 'all', 'print'],
  get: ['status', 'details', 'inspect'],
  create: ['issue', 'generate', 'make'],
  update: ['rename', 'set', 'modify'],
  block: ['stop', 'lock', 'deny', 'pause'],
  tail: ['watch', 'follow', 'stream'],
  test: ['send', 'ping'],
  sign: ['file', 'export-file'],
  why: ['check', 'diagnose', 'explain'],
};

/** The error for words that commander rejects. Its first line proposes the right words. */
export function explainWords(error: CommanderError, path: string, command: Command | null): UsageError {
  const help = `${path} --help`;
  const fail = (message: string): UsageError => new UsageError(message, [['See:', help]], { cause: error });
  const [said = '', guess = ''] = error.message.replace(/^error: /, '').split('\n');
  const message = said.replaceAll(/[<>]/g, '').replace(/\.$/, '');
  const typed = /'(.*)'/s.exec(message)?.[1] ?? '';
  const propose = (words: readonly string[]): UsageError =>
    words.length > 0
      ? fail(`${message}. Did you mean ${words.join(' or ')}?`)
      : new UsageError(`${message}: see ${help}`, [], { cause: error });
  switch (error.code) {
    case 'commander.unknownOption': {
      const meant = optionsMeant(typed, command);
      return propose(meant.length === 0 ? guesses(typed, guess) : meant);
    }
    case 'commander.unknownCommand': {
      const meant = wordsMeant(typed, path);
      return propose(meant === undefined ? guesses(typed, guess) : [meant]);
    }
    case 'commander.excessArguments':
      // Surplus words are not repeated: a word may be a licence key.
      return message.includes('Expected 0')
        ? new UsageError(`${typed} takes no further words: see ${help}`, [], { cause: error })
        : fail(`${message.replace(/ but got (\d+): .*/s, ' but got $1')}: a text with spaces needs quotes, "Ada Ltd"`);
    default:
      return fail(message);
  }
}

/** The command that a wrong word means; a command of keys may lack its first word. */
function wordsMeant(typed: string, path: string): string | undefined {
  const group = path.replace(/^lkm ?/, '');
  const word = typed.toLowerCase();
  const isThere = (words: string): boolean => {
    const path = words.replace(/ --.*/, '');
    return commandEntries.some(
      (entry) => entry.path === path || entry.shortcut === path || entry.path.startsWith(`${path} `),
    );
  };
  const inGroup = (words: string): string => (group === '' ? words : `${group} ${words}`);
  const meant = Object.keys(wordSynonyms).find(
    (words) => wordSynonyms[words]?.includes(word) && isThere(inGroup(words)),
  );
  if (meant !== undefined || group !== '') return meant;
  const ofKeys = commandEntries.find(
    ({ path, synonyms }) => path.startsWith('keys ') && (path === `keys ${word}` || synonyms.includes(word)),
  );
  return ofKeys && !destructive.test(ofKeys.path.slice('keys '.length)) ? `lkm ${ofKeys.path}` : undefined;
}

/** The option that a wrong word means, or the options that begin with it. */
function optionsMeant(typed: string, command: Command | null): readonly string[] {
  const word = typed.replace(/^-+/, '').replace(/=.*/s, '').toLowerCase();
  const flags = Object.values(command?.options ?? {}).map(nameOf);
  const meant = flags.find((flag) => optionSynonyms[flag]?.includes(word));
  if (meant !== undefined) return [meant];
  return flags.filter((flag) => flag.startsWith(`--${word}-`) && !destructive.test(flag));
}

/** Commander's guesses that differ by one letter and destroy nothing. */
const guesses = (typed: string, guess: string): readonly string[] =>
  [...guess.replace(/^\(Did you mean (one of )?/, '').matchAll(/--[a-z-]+|[a-z][a-z-]*/g)]
    .map(([word]) => word)
    .filter((word) => isOneLetterAway(typed.replace(/=.*/s, ''), word) && !destructive.test(word));

/** Whether the words differ by one missing, additional or changed letter, or by two swapped letters. */
function isOneLetterAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  const [restA, restB] = [a.slice(start), b.slice(start)];
  const swapped = `${restA[1] ?? ''}${restA[0] ?? ''}${restA.slice(2)}`;
  return [
    restA.slice(1) === restB,
    restA === restB.slice(1),
    restA.slice(1) === restB.slice(1),
    swapped === restB,
  ].some(Boolean);
}

const LEFT = '[“”„‟«»]';

/**
 * Undoes changes that text programs make to a command line: long dashes (`—json`) become `--`, and typographic quotes around
 * a word are removed. Throws `UsageError` for such quotes around several words, which the shell has split, and for words of
 * another encoding than UTF-8: Node.js has replaced their bytes.
 */
export function plainWords(argv: readonly string[]): readonly string[] {
  return argv.map((word) => {
    if (word.includes('\ufffd')) {
      throw new UsageError(`'${word.slice(0, 40)}' is not UTF-8 text`, ['Set the terminal and the script to UTF-8.']);
    }
    const dashed = word.replace(/^[‐‑‒–—―−]{1,2}-?(?=[a-z])/, '--');
    const bare = dashed.replace(new RegExp(`^((?:--[a-z-]+=)?)${LEFT}(.*)${LEFT}$`, 's'), '$1$2');
    if (!new RegExp(`^(--[a-z-]+=)?${LEFT}`).test(bare) || bare === '') return bare;
    throw new UsageError(`type plain quotes around a text with spaces: "Ada Ltd", not ${word.slice(0, 40)} …`);
  });
}
