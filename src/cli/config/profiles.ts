import { lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommandError, LocalError, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';
import { withLock } from '../state/lock.ts';
import { runningServers } from '../state/servers.ts';
import { configDir, readPrivateFile, syncFolder, writeAtomically } from './files.ts';
import { isPostgres } from './location.ts';

/** A profile as a command uses it. */
export interface NamedProfile extends Profile {
  readonly name: string;
  /** Named by `--profile`: then its token goes before those of the environment. */
  readonly explicit: boolean;
  /** A server of this machine that does not run: neither its address nor its token may be used. */
  readonly isStopped?: boolean;
}

/** The profile of the newest running server of this user, whatever is stored under the name. */
const LOCAL = 'local';

/** The profile that is named, or the current one; null when there is none. Throws `UsageError` for an unknown name. */
export function chooseProfile(flags: GlobalFlags, io: Io): NamedProfile | null {
  const config = readConfig(io);
  const named = namedProfile(flags, io);
  const name = named ?? config.currentProfile;
  if (name === null) return null;
  const explicit = flags.profile !== undefined;
  const stored = config.profiles[name];
  const servers = name === LOCAL || stored?.db !== undefined ? runningServers(io) : [];
  const [newest] = servers;
  if (name === LOCAL && newest !== undefined) {
    const { token = null, keyring } = profileOf(newest.db, config) ?? {};
    return { baseUrl: newest.url, db: newest.db, ca: newest.ca, token, ...(keyring && { keyring }), name, explicit };
  }
  if (stored) {
    // Its server may listen at another port than when the profile was stored.
    const server = servers.find(({ db }) => db === stored.db);
    const isStopped = server === undefined && isServedHere(stored);
    return { ...stored, ...(server && { baseUrl: server.url, ca: server.ca }), name, explicit, isStopped };
  }
  if (named === null) return null;
  throw name === LOCAL ? noLocalServer() : unknownProfile(name, config);
}

/** The name that is given in place of the current profile's; null for none. An empty variable counts as none. */
export const namedProfile = (flags: GlobalFlags, { env }: Pick<Io, 'env'>): string | null =>
  flags.profile ?? (env.LKM_PROFILE || null);

/** The profile of a database: the one stored last, since a file may have been made anew. */
export function profileOf(db: string, { profiles }: Config): ({ readonly name: string } & Profile) | undefined {
  const found = Object.entries(profiles).findLast(([, profile]) => profile.db === db);
  return found && { name: found[0], ...found[1] };
}

/** Scheme, host and port of an address. */
export const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);

/** Whether the service of a profile is a server of this machine; when it has ended, its port may be another user's. */
const isServedHere = ({ db, baseUrl }: Profile): boolean =>
  db !== undefined && !isPostgres(db) && /^http:\/\/(127\.|localhost|\[::1\])/.test(baseUrl);

/** Throws `LocalError` for a profile whose server does not run. */
export function checkRunning({ name, db = '', baseUrl, isStopped }: NamedProfile): void {
  if (!isStopped) return;
  throw new LocalError(`the server of profile ${name} is not running, last at ${baseUrl}`, [
    'Nothing was sent.',
    ['Start it:', `lkm serve --db ${quote(db)}`],
    ['Without it:', `--db ${quote(db)}`],
  ]);
}

const noLocalServer = (): UsageError =>
  new UsageError('no server of this user is running on this machine', [['Start one:', 'lkm serve']]);

export function unknownProfile(name: string, config: Config): UsageError {
  const known = Object.keys(config.profiles);
  const hint = known.length > 0 ? `Stored: ${known.join(', ')}` : 'None is stored yet: lkm auth login stores one.';
  return new UsageError(`there is no profile '${name}'`, [hint]);
}

/** A stored account: where its service is, and the token that belongs to it. */
export interface Profile extends StoredToken {
  readonly baseUrl: string;
  /** The database file behind it, for a server of this machine. */
  readonly db?: string;
  /** What commands with this profile do unless they are told otherwise. */
  readonly settings?: StoredSettings;
  /** The certificate (PEM) of a server that has signed it itself: the only one that is trusted at `baseUrl`. */
  readonly ca?: string | undefined;
}

/** Where the token of a profile is. */
export interface StoredToken {
  /** Null where it is in the keyring, or where none is stored. */
  readonly token: string | null;
  /** Its entry in the system's keyring. */
  readonly keyring?: string;
}

/** Values of options by their names, as `lkm config set` stores them. */
export type StoredSettings = Readonly<Record<string, string>>;

export interface Config {
  readonly version: 1;
  readonly currentProfile: string | null;
  readonly profiles: Readonly<Record<string, Profile>>;
  /** What every command does unless it is told otherwise. */
  readonly settings?: StoredSettings;
}

const empty: Config = { version: 1, currentProfile: null, profiles: Object.create(null) };

/** The file itself; only its owner may read it, since it holds tokens. */
export const configFile = (io: Io): string => join(configDir(io), 'config.json');

/**
 * Reads the configuration; one that was never written is empty. Throws `LocalError` when it is broken or newer, or when
 * others can read it.
 */
export function readConfig(io: Io): Config {
  const path = configFile(io);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return empty;
  if (!found.isFile()) throw broken(path, 'is not a file');
  const text = readPrivateFile(path, io);
  try {
    return checked(JSON.parse(text), path);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    // Without its cause: a syntax error quotes the file, which holds tokens.
    throw broken(path, 'cannot be read as JSON');
  }
}

/**
 * Stores a new profile under `name`, or under `name-2`, `name-3` … where that is taken: what is stored is never
 * overwritten. The first profile becomes the current one. Returns the name. Throws `LocalError` as `readConfig` does.
 */
export function addProfile(io: Io, name: string, profile: Profile): string {
  return changeConfig(io, (config) => {
    let free = name;
    for (let number = 2; free in config.profiles; number++) free = `${name}-${number}`;
    const profiles = { ...config.profiles, [free]: profile };
    return { config: { ...config, currentProfile: config.currentProfile ?? free, profiles }, value: free };
  });
}

/** Stores that the service of a profile is at another address, or has another certificate. */
export function moveProfile(io: Io, name: string, { baseUrl, ca }: Pick<Profile, 'baseUrl' | 'ca'>): void {
  changeConfig(io, (config) => {
    const { [name]: profile } = config.profiles;
    if (profile === undefined) return { config, value: undefined };
    return {
      config: { ...config, profiles: { ...config.profiles, [name]: { ...profile, baseUrl, ca } } },
      value: undefined,
    };
  });
}

/** Puts a new token in the place of the one that a profile has. */
export function replaceToken(io: Io, name: string, stored: StoredToken): void {
  changeConfig(io, (config) => {
    const { [name]: profile } = config.profiles;
    if (profile === undefined) throw unknownProfile(name, config);
    const { keyring: _, ...others } = profile;
    const profiles = { ...config.profiles, [name]: { ...others, ...stored } };
    return { config: { ...config, profiles }, value: undefined };
  });
}

/** Makes a profile the current one. Throws `UsageError` when there is none of that name. */
export function switchProfile(io: Io, name: string): void {
  changeConfig(io, (config) => {
    if (!(name in config.profiles)) throw unknownProfile(name, config);
    return { config: { ...config, currentProfile: name }, value: undefined };
  });
}

/** Forgets a profile with its token and returns it. Throws `UsageError` when there is none of that name. */
export function removeProfile(io: Io, name: string): Profile {
  return changeConfig(io, (config) => {
    const { [name]: profile, ...profiles } = config.profiles;
    if (profile === undefined) throw unknownProfile(name, config);
    const currentProfile = config.currentProfile === name ? null : config.currentProfile;
    return { config: { ...config, currentProfile, profiles }, value: profile };
  });
}

/** Reads, changes and writes the configuration while no other process does. */
export function changeConfig<T>(io: Io, change: (config: Config) => { readonly config: Config; readonly value: T }): T {
  const folder = configDir(io);
  const path = configFile(io);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return withLock(join(folder, 'config.lock'), () => {
      const { config, value } = change(readConfig(io));
      // Behind a link, as of those who keep their settings together, the file itself is replaced.
      const file = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? realpathSync(path) : path;
      writeAtomically(file, `${JSON.stringify(config, null, 2)}\n`, 0o600, io);
      syncFolder(dirname(file));
      return value;
    });
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error instanceof CommandError) throw error;
    throw new LocalError(`cannot write ${path} (${error.code})`, [], { cause: error });
  }
}

function checked(stored: unknown, path: string): Config {
  if (!isObject(stored)) throw broken(path, wrongForm);
  if (typeof stored.version === 'number' && stored.version > 1) {
    throw new LocalError(`${path} was written by a newer lkm`, ['Update lkm. The file was not touched.']);
  }
  const { version, currentProfile = null, profiles = {}, settings = {} } = stored;
  const isNamed = currentProfile === null || typeof currentProfile === 'string';
  if (version !== 1 || !isNamed || !isProfiles(profiles) || !isSettings(settings)) throw broken(path, wrongForm);
  // Without what objects inherit: a profile may have any name.
  const own: Config['profiles'] = Object.assign(Object.create(null), profiles);
  return { ...stored, version, currentProfile, profiles: own, ...(stored.settings !== undefined && { settings }) };
}

const wrongForm = 'does not have the form of a configuration';

const isProfiles = (profiles: unknown): profiles is Config['profiles'] =>
  isObject(profiles) && Object.values(profiles).every(isProfile);

const isProfile = (profile: unknown): boolean =>
  isObject(profile) &&
  typeof profile.baseUrl === 'string' &&
  (typeof profile.token === 'string' || profile.token === null) &&
  (profile.keyring === undefined || typeof profile.keyring === 'string') &&
  (profile.ca === undefined || typeof profile.ca === 'string') &&
  (profile.settings === undefined || isSettings(profile.settings));

const isSettings = (settings: unknown): settings is StoredSettings =>
  isObject(settings) && Object.values(settings).every((value) => typeof value === 'string');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const broken = (path: string, what: string): LocalError =>
  new LocalError(`${path} ${what}`, ['Repair it or move it away. It was not touched.']);
