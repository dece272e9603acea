import { LocalError, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { quote } from '../output/words.ts';
import { runningServers } from '../state/servers.ts';
import { type Config, changeConfig, type Profile, readConfig } from './config-file.ts';
import { isPostgres } from './location.ts';

/** Where the token of a profile is: here, or under this name in the keyring. */
export type StoredToken = Pick<Profile, 'token' | 'keyring'>;

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
export async function chooseProfile(flags: GlobalFlags, io: Io): Promise<NamedProfile | null> {
  const config = await readConfig(io);
  const named = namedProfile(flags, io);
  const name = named ?? config.currentProfile;
  if (name === null) return null;
  const explicit = flags.profile !== undefined;
  const found = config.profiles[name];
  const servers = name === LOCAL || found?.db !== undefined ? runningServers(io) : [];
  const [newest] = servers;
  if (name === LOCAL && newest !== undefined) {
    const { token = null, keyring } = profileOf(newest.db, config) ?? {};
    return { baseUrl: newest.url, db: newest.db, token, keyring, name, explicit };
  }
  if (found === undefined && named === null) return null;
  if (found === undefined && name === LOCAL) {
    throw new UsageError('no server of this user is running on this machine', [['Start one:', 'lkm serve']]);
  }
  const profile = stored(name, config.profiles);
  // Its server may listen at another port than when the profile was stored.
  const server = servers.find(({ db }) => db === profile.db);
  const isStopped = server === undefined && isServedHere(profile);
  return { ...profile, ...(server && { baseUrl: server.url }), name, explicit, isStopped };
}

/** The name that is given in place of the current profile's; null for none. An empty variable counts as none. */
export const namedProfile = (flags: GlobalFlags, { env }: Pick<Io, 'env'>): string | null =>
  flags.profile ?? (env.LKM_PROFILE || null);

/** The profile of a database: the one stored last, since a file may have been made anew. */
export function profileOf(db: string, { profiles }: Config): ({ readonly name: string } & Profile) | undefined {
  const found = Object.entries(profiles).findLast(([, profile]) => profile.db === db);
  return found && { name: found[0], ...found[1] };
}

export const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);

/** Whether the service of a profile is a server of this machine; when it has ended, its port may be another user's. */
const isServedHere = ({ db, baseUrl }: Profile): boolean =>
  db !== undefined && !isPostgres(db) && /^http:\/\/(127\.|localhost|\[::1\])/.test(baseUrl);

export function checkRunning({ name, db = '', baseUrl, isStopped }: NamedProfile): void {
  if (!isStopped) return;
  throw new LocalError(`the server of profile ${name} is not running, last at ${baseUrl}`, [
    'Nothing was sent.',
    ['Start it:', `lkm serve --db ${quote(db)}`],
    ['Without it:', `--db ${quote(db)}`],
  ]);
}

/**
 * Stores a new profile under `name`, or under `name-2`, `name-3` … where that is taken: what is stored is never
 * overwritten. The first profile becomes the current one. Returns the name. Throws `LocalError` as `readConfig` does.
 */
export const addProfile = (io: Io, name: string, profile: Profile): Promise<string> =>
  changeConfig(io, (config) => {
    const { profiles, currentProfile } = config.store;
    let free = name;
    for (let number = 2; free in profiles; number++) free = `${name}-${number}`;
    config.set({ profiles: { ...profiles, [free]: profile }, currentProfile: currentProfile ?? free });
    return free;
  });

export const changeProfile = (io: Io, name: string, change: (profile: Profile) => Profile): Promise<void> =>
  changeConfig(io, (config) => {
    const { profiles } = config.store;
    config.set('profiles', { ...profiles, [name]: change(stored(name, profiles)) });
  });

/** Makes a profile the current one and returns it. Throws `UsageError` when there is none of that name. */
export const switchProfile = (io: Io, name: string): Promise<Profile> =>
  changeConfig(io, (config) => {
    const profile = stored(name, config.get('profiles'));
    config.set('currentProfile', name);
    return profile;
  });

/** Forgets a profile with its token and returns it. Throws `UsageError` when there is none of that name. */
export const removeProfile = (io: Io, name: string): Promise<Profile> =>
  changeConfig(io, (config) => {
    const { [name]: _, ...profiles } = config.get('profiles');
    const profile = stored(name, config.get('profiles'));
    const current = config.get('currentProfile');
    config.set({ profiles, currentProfile: current === name ? null : current });
    return profile;
  });

function stored(name: string, profiles: Config['profiles']): Profile {
  const { [name]: profile } = profiles;
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles);
  const hint = known.length > 0 ? `Stored: ${known.join(', ')}` : 'None is stored yet: lkm auth login stores one.';
  throw new UsageError(`there is no profile '${name}'`, [hint]);
}
