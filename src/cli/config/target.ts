import { LocalError, UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { quote } from '../request/rerun.ts';
import { type Config, type Profile, readConfig } from './config.ts';
import { isPostgres, locate } from './location.ts';
import { runningServers } from './running-servers.ts';

/** The service that a command talks to. */
export type Target =
  | { readonly kind: 'database'; readonly db: string }
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly profile: NamedProfile | null };

export interface NamedProfile extends Omit<Profile, 'token'> {
  readonly name: string;
  /** Null for a running server of which none is stored. */
  readonly token: string | null;
  /** Named by `--profile`: then its token goes before those of the environment. */
  readonly explicit: boolean;
}

/** Chooses the service: flags, then the environment, then the profile. Throws `UsageError` when there is none. */
export function chooseTarget(flags: GlobalFlags, io: Io): Target {
  checkOneService(flags, io);
  if (flags.db) return database(flags.db, io);
  if (!flags.baseUrl && !flags.profile && io.env.LKM_DB) return database(io.env.LKM_DB, io);
  const profile = chooseProfile(flags, io);
  const given = flags.baseUrl ?? (flags.profile ? undefined : io.env.LKM_BASE_URL);
  const baseUrl = given || profile?.baseUrl;
  if (!baseUrl) throw noService();
  return { kind: 'remote', baseUrl, profile };
}

/** A flag goes before the variable of another, but two flags, or two variables, name two services: decision 0034. */
function checkOneService({ db, baseUrl, profile }: GlobalFlags, { env }: Io): void {
  if (db && baseUrl) throw twoServices('--db', '--base-url');
  const isChosenByFlag = Boolean(db || baseUrl || profile);
  if (!isChosenByFlag && env.LKM_DB && env.LKM_BASE_URL) throw twoServices('LKM_DB', 'LKM_BASE_URL');
}

const twoServices = (one: string, other: string): UsageError =>
  new UsageError(`${one} and ${other} name two services; ${one.startsWith('-') ? 'give' : 'set'} one of them`);

const database = (location: string, io: Io): Target => ({ kind: 'database', db: locate(location, io) });

/**
 * The database that an operator's command works on: `--db` or `LKM_DB`.
 * Throws `UsageError` when the command line names a service, or nothing.
 */
export function chooseDatabase(flags: GlobalFlags, io: Io): string {
  const named = flags.baseUrl ? '--base-url' : flags.profile ? '--profile' : undefined;
  checkOneService(flags, io);
  const db = flags.db ?? (named === undefined ? io.env.LKM_DB : undefined);
  if (db) return locate(db, io);
  throw new UsageError(
    named === undefined
      ? 'this command works on a database itself, and none is named'
      : `this command works on a database itself; ${named} names a service`,
    [
      ['Give it:', '--db FILE, or postgres://…'],
      ['Or set:', 'export LKM_DB=…'],
    ],
  );
}

/** The profile of the newest running server of this user, whatever is stored under the name. */
const LOCAL = 'local';

function chooseProfile(flags: GlobalFlags, io: Io): NamedProfile | null {
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

const noService = (): UsageError =>
  new UsageError('there is no service to talk to', [
    ['See it work:', 'lkm quickstart'],
    ['On a file:', '--db lkm.db, or start a server with: lkm serve'],
    ['A service:', '--base-url URL, with its token in LKM_TOKEN'],
  ]);
