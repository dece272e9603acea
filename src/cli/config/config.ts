import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { configDir } from './paths.ts';

/** A stored account: where its service is, and the token that belongs to it. */
export interface Profile {
  readonly baseUrl: string;
  readonly token: string;
  /** The database file behind it, for a server of this machine. */
  readonly db?: string;
}

export interface Config {
  readonly version: 1;
  readonly currentProfile: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const empty: Config = { version: 1, currentProfile: null, profiles: {} };

/** The file itself; only its owner may read it, since it holds tokens. */
export const configFile = (io: Io): string => join(configDir(io), 'config.json');

/** Reads the configuration; one that was never written is empty. Throws `LocalError` when it is broken or newer. */
export function readConfig(io: Io): Config {
  const path = configFile(io);
  if (!existsSync(path)) return empty;
  try {
    return checked(JSON.parse(readFileSync(path, 'utf8')), path);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    // Without its cause: a syntax error quotes the file, which holds tokens.
    throw broken(path, 'cannot be read as JSON');
  }
}

/** Stores a profile, and makes it the current one when there is none. Never overwrites a file that is broken. */
export async function storeProfile(io: Io, name: string, profile: Profile): Promise<void> {
  const config = readConfig(io);
  mkdirSync(configDir(io), { recursive: true, mode: 0o700 });
  // Writes need it, reads do not: it takes longer to load than most commands take to run.
  const { default: Conf } = await import('conf');
  const store = new Conf<Record<string, unknown>>({
    cwd: configDir(io),
    configName: 'config',
    projectName: 'lkm',
    projectSuffix: '',
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
  });
  store.store = {
    ...config,
    currentProfile: config.currentProfile ?? name,
    profiles: { ...config.profiles, [name]: profile },
  };
}

function checked(stored: unknown, path: string): Config {
  if (!isObject(stored)) throw broken(path, wrongForm);
  if (typeof stored.version === 'number' && stored.version > 1) {
    throw new LocalError(`${path} was written by a newer lkm`, ['Update lkm. The file was not touched.']);
  }
  const { version, currentProfile = null, profiles = {} } = stored as Partial<Config>;
  const sound = version === 1 && isObject(profiles) && Object.values(profiles).every(isProfile);
  if (!sound) throw broken(path, wrongForm);
  return { ...stored, version, currentProfile, profiles };
}

const wrongForm = 'does not have the form of a configuration';

const isProfile = (profile: unknown): boolean =>
  isObject(profile) && typeof profile.baseUrl === 'string' && typeof profile.token === 'string';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const broken = (path: string, what: string): LocalError =>
  new LocalError(`${path} ${what}`, ['Repair it or move it away. It was not touched.']);
