import { LocalError, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { type Config, changeConfig, type Profile, readConfig } from './config-file.ts';
import { waysWithoutServer } from './location.ts';

/** The token itself, or the name of its entry in the keyring. */
export type StoredToken = Pick<Profile, 'token' | 'keyring'>;

export interface NamedProfile extends Profile {
  readonly name: string;
  /** Whether `--profile` names it: its token then wins over the variables. */
  readonly explicit: boolean;
}

/** The profile that `lkm serve` writes. */
const LOCAL = 'local';

/** The named or the current profile; null without a current profile. Throws `UsageError` for an unknown name. */
export async function chooseProfile(flags: GlobalFlags, io: Io): Promise<NamedProfile | null> {
  const { profiles, currentProfile } = await readConfig(io);
  const named = namedProfile(flags, io);
  const name = named ?? currentProfile;
  if (name === null || (named === null && profiles[name] === undefined)) return null;
  if (name === LOCAL && profiles[name] === undefined) {
    throw new UsageError('no server of this user is running on this machine', [['Start one:', 'lkm serve']]);
  }
  return { ...stored(name, profiles), name, explicit: flags.profile !== undefined };
}

/** The name that overrides the current profile; null if neither option nor variable is set. An empty variable is ignored. */
export const namedProfile = (flags: GlobalFlags, { env }: Pick<Io, 'env'>): string | null =>
  flags.profile ?? (env.LKM_PROFILE || null);

export const originOf = (url: string | null): string | null =>
  url !== null && URL.canParse(url) ? new URL(url).origin : url;

export const placeOfService = ({ baseUrl }: Profile): string => baseUrl ?? 'a server that has ended';

/** Whether the server of the profile has ended: another program may listen at its address. */
export const hasEnded = ({ baseUrl, pid }: Profile, { isRunning }: Pick<Io, 'isRunning'>): boolean =>
  baseUrl === null || (pid !== undefined && !isRunning(pid));

export const serverEnded = ({ name, db = '' }: NamedProfile): LocalError =>
  new LocalError(`the server of profile ${name} is not running`, waysWithoutServer(db));

/**
 * Stores a new profile under `name`, or `name-2`, `name-3` … if the name is taken, and returns the name. The first profile
 * becomes the current one. Throws `LocalError` as `readConfig` does.
 */
export const addProfile = (io: Io, name: string, profile: Profile): Promise<string> =>
  changeConfig(io, (config) => {
    const { profiles, currentProfile } = config.store;
    const free = freeName(name, profiles);
    config.set({ profiles: { ...profiles, [free]: profile }, currentProfile: currentProfile ?? free });
    return free;
  });

/**
 * Stores a started server as profile `local`, with its new token or the stored token of its database. Another profile of
 * that name is renamed. Throws `LocalError` as `readConfig` does.
 */
export const startLocalProfile = (io: Io, { url, db, token }: Served): Promise<Profile> =>
  changeConfig(io, (config) => {
    const { currentProfile, ...before } = config.store;
    const profiles = { ...before.profiles };
    const known = token === null ? Object.keys(profiles).findLast((name) => profiles[name]?.db === db) : undefined;
    const profile = { token, ...(known && profiles[known]), baseUrl: url, db, pid: io.pid };
    if (known !== undefined) delete profiles[known];
    const { [LOCAL]: displaced, ...others } = profiles;
    if (displaced !== undefined) others[freeName(LOCAL, profiles)] = displaced;
    const current = currentProfile === known ? LOCAL : currentProfile;
    config.set({ profiles: { ...others, [LOCAL]: profile }, currentProfile: current ?? LOCAL });
    return profile;
  });

/** Removes the profile of an ended server; a profile with a token stays, without an address. */
export const endLocalProfile = (io: Io, url: string): Promise<void> =>
  changeConfig(io, (config) => {
    const { profiles, currentProfile } = config.store;
    const left = Object.entries(profiles).flatMap(([name, profile]): [string, Profile][] => {
      if (profile.baseUrl !== url || profile.db === undefined) return [[name, profile]];
      return hasToken(profile) ? [[name, { ...profile, baseUrl: null }]] : [];
    });
    const kept = Object.fromEntries(left);
    const isKept = currentProfile !== null && Object.hasOwn(kept, currentProfile);
    config.set({ profiles: kept, currentProfile: isKept ? currentProfile : null });
  });

interface Served {
  readonly url: string;
  readonly db: string;
  readonly token: string | null;
}

export const hasToken = ({ token, keyring }: StoredToken): boolean => token !== null || keyring !== undefined;

export const changeProfile = (io: Io, name: string, change: (profile: Profile) => Profile): Promise<void> =>
  changeConfig(io, (config) => {
    const { profiles } = config.store;
    config.set('profiles', { ...profiles, [name]: change(stored(name, profiles)) });
  });

/** Makes a profile the current one. Throws `UsageError` for an unknown name. */
export const switchProfile = (io: Io, name: string): Promise<Profile> =>
  changeConfig(io, (config) => {
    const profile = stored(name, config.get('profiles'));
    config.set('currentProfile', name);
    return profile;
  });

/** Removes a profile with its token. Throws `UsageError` for an unknown name. */
export const removeProfile = (io: Io, name: string): Promise<Profile> =>
  changeConfig(io, (config) => {
    const { [name]: _, ...profiles } = config.get('profiles');
    const profile = stored(name, config.get('profiles'));
    const current = config.get('currentProfile');
    config.set({ profiles, currentProfile: current === name ? null : current });
    return profile;
  });

function freeName(name: string, taken: Config['profiles']): string {
  let free = name;
  for (let number = 2; free in taken; number++) free = `${name}-${number}`;
  return free;
}

function stored(name: string, profiles: Config['profiles']): Profile {
  const { [name]: profile } = profiles;
  if (profile !== undefined) return profile;
  const known = Object.keys(profiles);
  const hint = known.length > 0 ? `Stored: ${known.join(', ')}` : 'None is stored yet: lkm auth login stores one.';
  throw new UsageError(`there is no profile '${name}'`, [hint]);
}
