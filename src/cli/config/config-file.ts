import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import type Conf from 'conf';
import { z } from 'zod';
import { LocalError, onDisk } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { withLock } from '../state/lock.ts';
import { checkPrivate, configDir, findConfigDir, syncFolder } from './files.ts';

/** Values of options by name, stored by `lkm config set`. */
export type StoredSettings = Readonly<z.infer<typeof StoredSettings>>;
const StoredSettings = z.record(z.string(), z.string());

/** A service with its token. */
export type Profile = Readonly<z.infer<typeof Profile>>;
const Profile = z.object({
  /** Null after the server on this machine has ended. */
  baseUrl: z.string().nullable(),
  /** Null if it is in the keyring or not stored. */
  token: z.string().nullable(),
  keyring: z.string().optional(),
  /** The database of a server on this machine. */
  db: z.string().optional(),
  pid: z.int().positive().optional(),
  settings: StoredSettings.optional(),
});

/** A profile may have the name of a property that every object has. */
const byName = <T>(all: Record<string, T>): Readonly<Record<string, T>> => Object.assign(Object.create(null), all);

export type Config = Readonly<z.infer<typeof Config>>;
const Config = z.object({
  version: z.literal(1),
  currentProfile: z.string().nullable().default(null),
  profiles: z
    .record(z.string(), Profile.loose())
    .default({})
    .transform(byName<Profile>),
  settings: StoredSettings.optional(),
});

const empty: Config = Config.parse({ version: 1 });

/** Readable by its owner only, since it contains tokens. */
export const configFile = (io: Io): string => join(configDir(io), 'config.json');

/** Reads the configuration. Throws `LocalError` for a file that is damaged, newer, or readable by other users. */
export async function readConfig(io: Io): Promise<Config> {
  if (findConfigDir(io) === null) return empty;
  const path = configFile(io);
  if (!existsSync(path)) return empty;
  return onDisk(`read ${path}`, () => {
    checkFile(path, io);
    return parse(readFileSync(path, 'utf8'), path);
  });
}

/** Changes the configuration under a lock. Throws `LocalError` as `readConfig` does. */
export async function changeConfig<T>(io: Io, change: (config: Conf<Config>) => T): Promise<T> {
  const ConfigStore = await loadConf();
  const cwd = configDir(io);
  const path = configFile(io);
  return onDisk(`write ${path}`, () => {
    mkdirSync(cwd, { recursive: true, mode: 0o700 });
    return withLock(join(cwd, 'config.lock'), () => {
      checkFile(path, io);
      const deserialize = (text: string) => parse(text, path);
      const value = change(new ConfigStore<Config>({ cwd, configFileMode: 0o600, defaults: empty, deserialize }));
      syncFolder(dirname(realpathSync(path)));
      return value;
    });
  }, ['Set LKM_CONFIG_DIR to a folder that can be written to.']);
}

/** Loads `conf` without the signal listeners of its dependency `when-exit`, which would end a server before its requests. */
async function loadConf() {
  const signals = Object.keys(constants.signals) as NodeJS.Signals[];
  const before = new Set(signals.flatMap((signal) => process.listeners(signal)));
  const { default: ConfigStore } = await import('conf');
  for (const signal of signals) {
    for (const listener of process.listeners(signal)) if (!before.has(listener)) process.off(signal, listener);
  }
  return ConfigStore;
}

function checkFile(path: string, io: Io): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === false) throw broken(path, 'is not a file');
  if (found !== undefined) checkPrivate(found, path, io);
}

function parse(text: string, path: string): Config {
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch {
    // Without the cause: a syntax error quotes the file, which contains tokens.
    throw broken(path, 'cannot be read as JSON');
  }
  const config = Config.loose().safeParse(stored);
  if (config.success) return config.data;
  if (!z.object({ version: z.number().gt(1) }).safeParse(stored).success) {
    throw broken(path, 'does not have the form of a configuration');
  }
  throw new LocalError(`${path} was written by a newer lkm`, ['Update lkm. The file was not touched.']);
}

const broken = (path: string, what: string): LocalError =>
  new LocalError(`${path} ${what}`, ['Repair it or move it away. It was not touched.']);
