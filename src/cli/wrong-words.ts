import type { CommanderError } from 'commander';
import { type Command, longFlag } from './command.ts';
import { UsageError } from './failure/errors.ts';
import { commandEntries } from './tree.ts';

/** The words and options that a guess never proposes: what they do cannot be taken back, or not by the same person. */
const destructive =
  /^(delete|revoke|rm|remove|transfer|rebind|reissue|release|deactivate|unlink|rekey|restore|rotate|logout|unset|import|--(create|force|yes|all-devices|last-admin|in-use|nobody|inactive|clear-.*|plain|no-.*))$/;

/** What people type for an option, by the option that is meant. */
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
  '--note': ['comment', 'reason', 'message', 'why'],
  '--text': ['search', 'query', 'find', 'filter', 'name'],
  '--name': ['title', 'label'],
  '--limit': ['max', 'count', 'number', 'top', 'first'],
  '--status': ['state', 'active', 'expired', 'blocked', 'unused'],
  '--file': ['input', 'csv', 'from-file'],
  '--type': ['event', 'events', 'kind'],
};

/** What people type for a word of the tree, by what is meant: a group, or a command of the group before. */
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
};

/** The error for words that commander does not understand: its first line says what to do. */
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
      const meant = optionMeant(typed, command);
      return propose(meant === undefined ? guesses(typed, guess) : [meant]);
    }
    case 'commander.unknownCommand': {
      const meant = wordsMeant(typed, path);
      return propose(meant === undefined ? guesses(typed, guess) : [meant]);
    }
    case 'commander.excessArguments':
      // The surplus words are left out: one of them may be a licence key.
      return message.includes('Expected 0')
        ? new UsageError(`${typed} takes no further words: see ${help}`, [], { cause: error })
        : fail(`${message.replace(/ but got (\d+): .*/s, ' but got $1')}: a text with spaces needs quotes, "Ada Ltd"`);
    default:
      return fail(message);
  }
}

/** What people mean by a word that is none of the group, or of the tree: a command of keys may lack its first word. */
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

/** The option of the command that people mean by another one. */
function optionMeant(typed: string, command: Command | null): string | undefined {
  const word = typed.replace(/^-+/, '').replace(/=.*/s, '').toLowerCase();
  const flags = Object.values(command?.options ?? {}).map(({ flags }) => longFlag(flags));
  return flags.find((flag) => optionSynonyms[flag]?.includes(word));
}

/** What commander guesses, where it is one letter away and destroys nothing. */
const guesses = (typed: string, guess: string): readonly string[] =>
  [...guess.replace(/^\(Did you mean (one of )?/, '').matchAll(/--[a-z-]+|[a-z][a-z-]*/g)]
    .map(([word]) => word)
    .filter((word) => isOneLetterAway(typed.replace(/=.*/s, ''), word) && !destructive.test(word));

/** Whether one letter is missing, too many or another one, or two stand in each other's place. */
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
 * The words of a command line as they were meant: an option with the dashes of a text program (`—json`) is one, and its
 * quotes around a word are dropped. Throws `UsageError` for such quotes around several words, which the shell has split.
 */
export function plainWords(argv: readonly string[]): readonly string[] {
  return argv.map((word) => {
    const dashed = word.replace(/^[‐‑‒–—―−]{1,2}-?(?=[a-z])/, '--');
    const bare = dashed.replace(new RegExp(`^((?:--[a-z-]+=)?)${LEFT}(.*)${LEFT}$`, 's'), '$1$2');
    if (!new RegExp(`^(--[a-z-]+=)?${LEFT}`).test(bare) || bare === '') return bare;
    throw new UsageError(`type plain quotes around a text with spaces: "Ada Ltd", not ${word.slice(0, 40)} …`);
  });
}
