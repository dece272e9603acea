import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import type Conf from 'conf';
import { z } from 'zod';
import { CommandError, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { withLock } from '../state/lock.ts';
import { checkPrivate, configDir, syncFolder } from './files.ts';

/** Values of options by their names, as `lkm config set` stores them. */
export type StoredSettings = Readonly<z.infer<typeof StoredSettings>>;
const StoredSettings = z.record(z.string(), z.string());

/** A stored account: where its service is, and the token that belongs to it. */
export type Profile = Readonly<z.infer<typeof Profile>>;
const Profile = z.object({
  baseUrl: z.string(),
  /** Null where it is in the keyring, or where none is stored. */
  token: z.string().nullable(),
  /** The entry of the token in the system's keyring. */
  keyring: z.string().optional(),
  /** The database file behind it, for a server of this machine. */
  db: z.string().optional(),
  /** The certificate (PEM) of a server that has signed it itself: the only one that is trusted at `baseUrl`. */
  ca: z.string().optional(),
  /** What commands with this profile do unless they are told otherwise. */
  settings: StoredSettings.optional(),
});

/** A profile may have any name, also one that every object has. */
const byName = <T>(all: Record<string, T>): Readonly<Record<string, T>> => Object.assign(Object.create(null), all);

export type Config = Readonly<z.infer<typeof Config>>;
const Config = z.object({
  version: z.literal(1),
  currentProfile: z.string().nullable().default(null),
  profiles: z
    .record(z.string(), Profile.loose())
    .default({})
    .transform(byName<Profile>),
  /** What every command does unless it is told otherwise. */
  settings: StoredSettings.optional(),
});

const empty: Config = Config.parse({ version: 1 });

/** The file itself; only its owner may read it, since it holds tokens. */
export const configFile = (io: Io): string => join(configDir(io), 'config.json');

/**
 * Reads the configuration; one that was never written is empty. Throws `LocalError` when it is broken or newer, or when
 * others can read it.
 */
export async function readConfig(io: Io): Promise<Config> {
  if (!existsSync(configFile(io))) return empty;
  const open = await opener(io);
  return explained(io, 'read', () => open().store);
}

/** Changes the configuration while no other process does. Throws `LocalError` as `readConfig` does. */
export async function changeConfig<T>(io: Io, change: (config: Conf<Config>) => T): Promise<T> {
  const open = await opener(io);
  return explained(io, 'write', () => {
    mkdirSync(configDir(io), { recursive: true, mode: 0o700 });
    return withLock(join(configDir(io), 'config.lock'), () => {
      const value = change(open());
      syncFolder(dirname(realpathSync(configFile(io))));
      return value;
    });
  });
}

async function opener(io: Io): Promise<() => Conf<Config>> {
  const ConfigStore = await loadConf();
  return () => {
    checkFile(io);
    return new ConfigStore<Config>({
      cwd: configDir(io),
      configName: 'config',
      configFileMode: 0o600,
      defaults: empty,
      deserialize: (text) => parse(text, configFile(io)),
    });
  };
}

async function loadConf() {
  const before = new Set(signalListeners().map(({ listener }) => listener));
  const { default: ConfigStore } = await import('conf');
  // It imports `when-exit`, which sends each signal to the process again: a server would end before its requests.
  for (const { signal, listener } of signalListeners()) if (!before.has(listener)) process.off(signal, listener);
  return ConfigStore;
}

const signalListeners = () =>
  Object.keys(constants.signals).flatMap((name) => {
    const signal = name as NodeJS.Signals;
    return process.listeners(signal).map((listener) => ({ signal, listener }));
  });

function checkFile(io: Io): void {
  const path = configFile(io);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) throw broken(path, 'is not a file');
  checkPrivate(found, path, io);
}

function parse(text: string, path: string): Config {
  const stored = parseJson(text, path);
  if (z.object({ version: z.number().gt(1) }).safeParse(stored).success) {
    throw new LocalError(`${path} was written by a newer lkm`, ['Update lkm. The file was not touched.']);
  }
  const config = Config.loose().safeParse(stored);
  if (!config.success) throw broken(path, 'does not have the form of a configuration');
  return config.data;
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without its cause: a syntax error quotes the file, which holds tokens.
    throw broken(path, 'cannot be read as JSON');
  }
}

const broken = (path: string, what: string): LocalError =>
  new LocalError(`${path} ${what}`, ['Repair it or move it away. It was not touched.']);

/** Runs `work`, with an error of the system as one of the command. */
function explained<T>(io: Io, verb: 'read' | 'write', work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause instanceof CommandError) throw cause;
    throw new LocalError(`cannot ${verb} ${configFile(io)} (${cause.code})`, [], { cause });
  }
}
