import { LocalError, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { quote } from '../request/rerun.ts';
import { type Config, type Profile, readConfig } from './config.ts';
import { isPostgres } from './location.ts';
import { runningServers } from './running-servers.ts';

/** A profile as a command uses it. */
export interface NamedProfile extends Omit<Profile, 'token'> {
  readonly name: string;
  /** Null for a running server of which none is stored. */
  readonly token: string | null;
  /** Named by `--profile`: then its token goes before those of the environment. */
  readonly explicit: boolean;
}

/** The profile of the newest running server of this user, whatever is stored under the name. */
const LOCAL = 'local';

/** The profile that is named, or the current one; null when there is none. Throws `UsageError` for an unknown name. */
export function chooseProfile(flags: GlobalFlags, io: Io): NamedProfile | null {
  const config = readConfig(io);
  const named = flags.profile ?? io.env.LKM_PROFILE;
  const name = named || config.currentProfile;
  if (!name) return null;
  const explicit = flags.profile !== undefined;
  const stored = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  const servers = name === LOCAL || stored?.db !== undefined ? runningServers(io) : [];
  const [newest] = servers;
  if (name === LOCAL && newest !== undefined) {
    const { token = null } = profileOf(newest.db, config) ?? {};
    return { baseUrl: newest.url, db: newest.db, token, name, explicit };
  }
  if (stored) {
    // Its server may listen at another port than when the profile was stored.
    const server = servers.find(({ db }) => db === stored.db);
    if (server === undefined && isServedHere(stored)) throw notRunning(name, stored);
    return { ...stored, baseUrl: server?.url ?? stored.baseUrl, name, explicit };
  }
  if (named) throw name === LOCAL ? noLocalServer() : unknownProfile(name, config);
  return null;
}

/** The profile of a database: the one stored last, since a file may have been made anew. */
export function profileOf(db: string, { profiles }: Config): ({ readonly name: string } & Profile) | undefined {
  const found = Object.entries(profiles).findLast(([, profile]) => profile.db === db);
  return found && { name: found[0], ...found[1] };
}

/** Whether the service of a profile is a server of this machine; when it has ended, its port may be another user's. */
const isServedHere = ({ db, baseUrl }: Profile): boolean =>
  db !== undefined && !isPostgres(db) && /^http:\/\/(127\.|localhost|\[::1\])/.test(baseUrl);

const notRunning = (name: string, { db = '', baseUrl }: Profile): LocalError =>
  new LocalError(`the server of profile ${name} is not running, last at ${baseUrl}`, [
    'Nothing was sent.',
    ['Start it:', `lkm serve --db ${quote(db)}`],
    ['Without it:', `--db ${quote(db)}`],
  ]);

const noLocalServer = (): UsageError =>
  new UsageError('no server of this user is running on this machine', [['Start one:', 'lkm serve']]);

function unknownProfile(name: string, config: Config): UsageError {
  const known = Object.keys(config.profiles);
  const hint = known.length > 0 ? `Stored: ${known.join(', ')}` : 'None is stored yet; lkm serve stores one as local.';
  return new UsageError(`there is no profile '${name}'`, [hint]);
}
