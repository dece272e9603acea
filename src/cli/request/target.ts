import { locate, withoutPassword } from '../config/location.ts';
import type { NamedProfile } from '../config/profiles.ts';
import { UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';

export type Target = { readonly kind: 'database'; readonly db: string } | RemoteTarget;

export interface RemoteTarget {
  readonly kind: 'remote';
  readonly baseUrl: string;
  readonly profile: NamedProfile | null;
}

/** The service as a confirmation shows it: `https://licensing.example.com, profile prod`. */
export function placeOf(target: Target): string {
  if (target.kind === 'database') return withoutPassword(target.db);
  const { baseUrl, profile } = target;
  return profile === null ? baseUrl : `${baseUrl}, profile ${profile.name}`;
}

/**
 * Chooses the service by flags, then variables, then the profile. Throws `UsageError` if no flag, variable or profile names
 * a service.
 */
export async function chooseTarget(flags: GlobalFlags, io: Io): Promise<Target> {
  const db = namedDatabase(flags, io);
  if (db !== null) return { kind: 'database', db };
  // Loaded late: `--db` needs no configuration.
  const { chooseProfile, hasEnded, serverEnded } = await import('../config/profiles.ts');
  const profile = await chooseProfile(flags, io);
  const given = flags.baseUrl ?? (flags.profile ? undefined : io.env.LKM_BASE_URL);
  const baseUrl = given ? withScheme(given, flags.baseUrl ? '--base-url' : 'LKM_BASE_URL') : profile?.baseUrl;
  if (!given && profile !== null && hasEnded(profile, io)) throw serverEnded(profile);
  if (!baseUrl) {
    const isAtTerminal = io.stderr.isTTY && io.stdin.isTTY;
    const login = isAtTerminal ? [['Log in:', 'lkm login --base-url URL'] as const] : [];
    throw new UsageError('there is no service to talk to', [
      ...login,
      ['See it work:', 'lkm quickstart'],
      ['On a file:', '--db lkm.db, or start a server with: lkm serve'],
      ['A service:', '--base-url URL, with its token in LKM_TOKEN'],
    ]);
  }
  return { kind: 'remote', baseUrl, profile };
}

/**
 * The named database, or null. A flag wins over the variable of another option; two flags or two variables name two
 * services, which throws `UsageError`. Decision 0035.
 */
function namedDatabase({ db, baseUrl, profile }: GlobalFlags, io: Io): string | null {
  if (db && baseUrl) throw new UsageError('--db and --base-url name two services; give one of them');
  const { LKM_DB, LKM_BASE_URL } = db || baseUrl || profile ? {} : io.env;
  if (LKM_DB && LKM_BASE_URL) throw new UsageError('LKM_DB and LKM_BASE_URL name two services; set one of them');
  const named = db || LKM_DB;
  return named ? locate(named, io) : null;
}

/** The database of an operator's command. Throws `UsageError` if a service is named, or nothing. */
export function chooseDatabase(flags: GlobalFlags, io: Io): string {
  // An empty `--db` (an unset variable) does not fall back to LKM_DB: the command may replace a database.
  const db = flags.db === '' ? null : namedDatabase(flags, io);
  if (db !== null) return db;
  const named = flags.baseUrl ? '--base-url' : flags.profile ? '--profile' : undefined;
  const instead = named === undefined ? ', and none is named' : `; ${named} names a service`;
  throw new UsageError(`this command works on a database itself${instead}`, [
    ['Give it:', '--db FILE, or postgres://…'],
    ['Or set:', 'export LKM_DB=…'],
  ]);
}

/** Adds the scheme to an address: https to `lkm.example:8443`, http to an address of this machine. */
export function withScheme(address: string, from: string): string {
  if (/^https?:\/\//i.test(address)) return address;
  if (!/^[a-z\d][\w.-]*(:\d+)?(\/[\w./-]*)?$|^\[[\da-f:]+\](:\d+)?(\/[\w./-]*)?$/i.test(address)) {
    const shown = address.slice(0, 80);
    throw new UsageError(`${from} '${shown}' is not an address`, [['Write:', `${from} https://lkm.example`]]);
  }
  return `${/^(localhost|127\.|\[::1\])/i.test(address) ? 'http' : 'https'}://${address}`;
}
