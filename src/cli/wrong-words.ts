import type { CommanderError } from 'commander';
import { type Command, longFlag } from './command.ts';
import { UsageError } from './failure/errors.ts';

/** The words and options that a guess never proposes: what they do cannot be taken back, or not by the same person. */
const destructive =
  /^(delete|revoke|rm|remove|transfer|rebind|reissue|release|rekey|restore|rotate|logout|unset|import|--(create|force|yes|all-devices|last-admin|in-use|nobody|inactive|clear-.*|plain|no-.*))$/;

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
  '--status': ['state'],
  '--file': ['input', 'csv', 'from-file'],
  '--type': ['event', 'events', 'kind'],
};

/** The error for words that commander does not understand: its first line says what to do. */
export function explainWords(error: CommanderError, path: string, command: Command | null): UsageError {
  const help = `${path} --help`;
  const fail = (message: string): UsageError => new UsageError(message, [['See:', help]], { cause: error });
  // Its suggestions have a line of their own.
  const [said = '', guess = ''] = error.message.replace(/^error: /, '').split('\n');
  const message = said.replaceAll(/[<>]/g, '').replace(/\.$/, '');
  switch (error.code) {
    case 'commander.unknownCommand':
    case 'commander.unknownOption': {
      const typed = /'(.*)'/s.exec(message)?.[1] ?? '';
      const meant = meantBy(typed, command);
      const words = meant === undefined ? guesses(typed, guess) : [meant];
      return words.length === 0
        ? new UsageError(`${message}: see ${help}`, [], { cause: error })
        : fail(`${message}. Did you mean ${words.join(' or ')}?`);
    }
    case 'commander.excessArguments':
      // The surplus words are left out: one of them may be a licence key.
      return fail(
        `${message.replace(/ but got (\d+): .*/s, ' but got $1')}: a text with spaces needs quotes, "Ada Ltd"`,
      );
    default:
      return fail(message);
  }
}

/** The option of the command that people mean by another one. */
function meantBy(typed: string, command: Command | null): string | undefined {
  const word = typed.replace(/^-+/, '').replace(/=.*/s, '').toLowerCase();
  const flags = Object.values(command?.options ?? {}).map(({ flags }) => longFlag(flags));
  return flags.find((flag) => optionSynonyms[flag]?.includes(word));
}

/** What commander guesses, where it begins alike and destroys nothing. */
const guesses = (typed: string, guess: string): readonly string[] =>
  [...guess.replace(/^\(Did you mean (one of )?/, '').matchAll(/--[a-z-]+|[a-z][a-z-]*/g)]
    .map(([word]) => word)
    .filter((word) => word.replace(/^-+/, '')[0] === typed.replace(/^-+/, '')[0] && !destructive.test(word));

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
