import { UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { type Config, type Profile, readConfig } from './config.ts';
import { locate } from './location.ts';

/** The service that a command talks to. */
export type Target =
  | { readonly kind: 'database'; readonly db: string }
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly profile: NamedProfile | null };

export interface NamedProfile extends Profile {
  readonly name: string;
  /** Named by `--profile`: then its token goes before those of the environment. */
  readonly explicit: boolean;
}

/** Chooses the service: flags, then the environment, then the profile. Throws `UsageError` when there is none. */
export function chooseTarget(flags: GlobalFlags, io: Io): Target {
  if (flags.db && flags.baseUrl) throw new UsageError('--db and --base-url name two services; give one of them');
  if (flags.db) return database(flags.db, io);
  if (!flags.baseUrl && !flags.profile && io.env.LKM_DB) return database(io.env.LKM_DB, io);
  const profile = chooseProfile(flags, io);
  const given = flags.baseUrl ?? (flags.profile ? undefined : io.env.LKM_BASE_URL);
  const baseUrl = given || profile?.baseUrl;
  if (!baseUrl) throw noService();
  return { kind: 'remote', baseUrl, profile };
}

const database = (location: string, io: Io): Target => ({ kind: 'database', db: locate(location, io) });

/**
 * The database that an operator's command works on: `--db` or `LKM_DB`.
 * Throws `UsageError` when the command line names a service, or nothing.
 */
export function chooseDatabase(flags: GlobalFlags, io: Io): string {
  const named = flags.baseUrl ? '--base-url' : flags.profile ? '--profile' : undefined;
  const db = flags.db ?? (named === undefined ? io.env.LKM_DB : undefined);
  if (db && !(flags.db && flags.baseUrl)) return locate(db, io);
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

function chooseProfile(flags: GlobalFlags, io: Io): NamedProfile | null {
  const config = readConfig(io);
  const named = flags.profile ?? io.env.LKM_PROFILE;
  const name = named || config.currentProfile;
  if (!name) return null;
  const profile = Object.hasOwn(config.profiles, name) ? config.profiles[name] : undefined;
  if (profile) return { ...profile, name, explicit: flags.profile !== undefined };
  if (named) throw unknownProfile(name, config);
  return null;
}

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
