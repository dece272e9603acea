import { spawnSync } from 'node:child_process';
import type { Io } from '../io.ts';

/** The system's keyring. Each entry is a token under a name that a profile knows. */
export interface Keyring {
  /** The token, or null when it is not there, or the keyring is locked or does not answer. */
  read(entry: string): string | null;
  /** Whether it is in the keyring afterwards; people see it there under the origin of its service. */
  store(entry: string, token: string, origin: string): boolean;
  remove(entry: string): boolean;
}

/** The keyring, where a program of the system takes a secret on stdin. Decision 0035. */
export function keyringOf({ platform, env }: Pick<Io, 'platform' | 'env'>): Keyring | null {
  const keyrings: Readonly<Record<string, (env: Io['env']) => Keyring>> = { linux: secretService, darwin: keychain };
  const keyring = keyrings[platform]?.(env);
  if (keyring === undefined) return null;
  // What a program says about its success is not relied on: what was stored is read again.
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

/** The keychain of macOS. `security -i` reads commands, so that no secret is in its arguments. */
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

/** A keyring without a session to unlock it in may never answer. */
const TIMEOUT_MS = 3_000;

/** What the program printed, without the line break at its end; null when it failed or took too long. */
function run(program: string, words: readonly string[], input: string, env: Io['env']): string | null {
  const how = { env, input, timeout: TIMEOUT_MS, killSignal: 'SIGKILL', encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(program, words, { ...how, stdio: ['pipe', 'pipe', 'ignore'] });
  return status === 0 ? stdout.replace(/\n$/, '') : null;
}
