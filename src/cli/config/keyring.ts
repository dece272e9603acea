import { spawnSync } from 'node:child_process';
import type { Io } from '../io.ts';

/** The system's keyring, with a token per entry; a profile knows the name of its entry. */
export interface Keyring {
  /** Null if the entry is missing, or the keyring is locked or does not respond. */
  read(entry: string): string | null;
  /** Whether the token was stored. The keyring shows it with the origin of its service. */
  store(entry: string, token: string, origin: string): boolean;
  remove(entry: string): boolean;
}

/** The keyring, if a program of the system takes secrets on stdin. Decision 0035. */
export function keyringOf({ platform, env }: Pick<Io, 'platform' | 'env'>): Keyring | null {
  const keyrings: Readonly<Record<string, (env: Io['env']) => Keyring>> = { linux: secretService, darwin: keychain };
  const keyring = keyrings[platform]?.(env);
  if (keyring === undefined) return null;
  // Programs report success wrongly, so the stored token is read back.
  const store: Keyring['store'] = (entry, token, origin) =>
    keyring.store(entry, token, origin) && keyring.read(entry) === token;
  return { ...keyring, store };
}

function secretService(env: Io['env']): Keyring {
  const call = (words: readonly string[], input = '') => run('secret-tool', words, input, env);
  const named = (entry: string) => ['service', 'lkm', 'profile', entry];
  return {
    read: (entry) => call(['lookup', ...named(entry)]),
    store: (entry, token, origin) => call(['store', `--label=lkm ${origin}`, ...named(entry)], token) !== null,
    remove: (entry) => call(['clear', ...named(entry)]) !== null,
  };
}

/** The macOS keychain. `security -i` reads commands from stdin: no secret is an argument. */
function keychain(env: Io['env']): Keyring {
  const call = (words: readonly string[], input = '') => run('security', words, input, env);
  const named = (entry: string) => ['-s', 'lkm', '-a', entry];
  const hex = (token: string) => Buffer.from(token).toString('hex');
  return {
    read: (entry) => call(['find-generic-password', ...named(entry), '-w']),
    store: (entry, token, origin) =>
      call(['-i'], `add-generic-password -U ${named(entry).join(' ')} -l "lkm ${origin}" -X ${hex(token)}\n`) !== null,
    remove: (entry) => call(['delete-generic-password', ...named(entry)]) !== null,
  };
}

/** A keyring without a session to unlock it may never respond. */
const TIMEOUT_MS = 3_000;

/** The output without its final line break; null if the program failed or took too long. */
function run(program: string, words: readonly string[], input: string, env: Io['env']): string | null {
  const how = { env, input, timeout: TIMEOUT_MS, killSignal: 'SIGKILL', encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(program, words, { ...how, stdio: ['pipe', 'pipe', 'ignore'] });
  return status === 0 ? stdout.replace(/\n$/, '') : null;
}
