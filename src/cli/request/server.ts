import type { Caller, Client } from '../../client/client.ts';
import type { ClientOptions } from '../../client/options.ts';
import type { Fetch } from '../../contract/endpoint.ts';
import type { Transport } from '../../contract/transport.ts';
import type { Instance } from '../../server/runtime.ts';
import { checkExists, locate } from '../config/location.ts';
import { readMasterKey } from '../config/master-key.ts';
import type { NamedProfile } from '../config/profiles.ts';
import type { Settings } from '../config/settings.ts';
import { UsageError } from '../failure/errors.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { describeAttempt, describeNotice, showWait } from '../output/progress.ts';
import { sanitise, talk } from '../output/terminal.ts';

/** The service that a command talks to. */
export type Target =
  | { readonly kind: 'database'; readonly db: string }
  | {
      readonly kind: 'remote';
      readonly baseUrl: string;
      readonly profile: NamedProfile | null;
      readonly ca: string | undefined;
    };

/** Chooses the service: flags, then the environment, then the profile. Throws `UsageError` when there is none. */
export async function chooseTarget(flags: GlobalFlags, io: Io): Promise<Target> {
  checkOneService(flags, io);
  if (flags.db) return database(flags.db, io);
  if (!flags.baseUrl && !flags.profile && io.env.LKM_DB) return database(io.env.LKM_DB, io);
  // Loaded late: a database needs no configuration.
  const { chooseProfile, originOf } = await import('../config/profiles.ts');
  const profile = chooseProfile(flags, io);
  const given = flags.baseUrl ?? (flags.profile ? undefined : io.env.LKM_BASE_URL);
  const baseUrl = given || profile?.baseUrl;
  if (!baseUrl) throw noService();
  // The certificate of a profile is trusted at its own origin only.
  const ca = profile !== null && originOf(baseUrl) === originOf(profile.baseUrl) ? profile.ca : undefined;
  return { kind: 'remote', baseUrl, profile, ca };
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

const noService = (): UsageError =>
  new UsageError('there is no service to talk to', [
    ['See it work:', 'lkm quickstart'],
    ['On a file:', '--db lkm.db, or start a server with: lkm serve'],
    ['A service:', '--base-url URL, with its token in LKM_TOKEN'],
  ]);

/** A token, and where it came from in words for an error. */
export interface FoundToken {
  readonly token: string;
  readonly from: string;
}

/** A service that can be called. */
export interface Connection {
  readonly baseUrl: string;
  readonly fetch?: Fetch | undefined;
  readonly transport?: Transport | undefined;
  readonly token: FoundToken | null;
  /** A certificate to trust there in place of those of this machine. */
  readonly ca?: string | undefined;
  close(): Promise<void>;
}

/** The address of a database in this process; nothing listens there. */
export const inProcessUrl = 'http://127.0.0.1';

/** Opens the service of a target. Without `needsToken` it is called without a token. */
export async function openConnection(
  target: Target,
  { flags, io, needsToken }: { readonly flags: GlobalFlags; readonly io: Io; readonly needsToken: boolean },
): Promise<Connection> {
  if (target.kind === 'remote') {
    const { findToken } = await import('../config/token.ts');
    const token = needsToken ? await findToken(flags, target, io) : null;
    return { baseUrl: target.baseUrl, ca: target.ca, fetch: io.fetch, token, close: async () => {} };
  }
  const given = flags.tokenFile ? await readGiven(flags.tokenFile, io) : undefined;
  const instance = await openInstance(target.db, io, { create: flags.create ?? false });
  const token = given ? { token: given, from: '--token-file' } : { token: instance.ownerToken, from: '--db' };
  return { baseUrl: inProcessUrl, transport: instance.transport, token, close: () => instance.close() };
}

async function readGiven(file: string, io: Io): Promise<string> {
  const { readTokenFile } = await import('../config/token.ts');
  return readTokenFile(file, '--token-file', io);
}

/** How the client connects, and whom it tells what happens. */
export function clientOptions(
  { baseUrl, token, fetch, transport, ca }: Connection,
  { onAttempt, onNotice }: Pick<Observation, 'onAttempt' | 'onNotice'>,
  settings: Settings,
  io: Io,
): ClientOptions {
  const { timeoutMs, maxRetries, maxWaitMs } = settings;
  return {
    baseUrl,
    token: token?.token,
    userAgent: `lkm/${io.version}`,
    ...{ timeoutMs, maxRetries, maxWaitMs },
    ...{ fetch, transport, ca, timing: io.timing },
    ...{ onAttempt, onNotice },
  };
}

/** What makes requests on a connection; what they show goes to the observation. */
export async function openCaller(
  connection: Connection,
  observation: Pick<Observation, 'onAttempt' | 'onNotice'>,
  settings: Settings,
  io: Io,
): Promise<Caller> {
  const { createCaller } = await import('../../client/client.ts');
  return createCaller(clientOptions(connection, observation, settings, io));
}

/** The typed client on a connection. */
export async function openClient(
  connection: Connection,
  observation: Pick<Observation, 'onAttempt' | 'onNotice'>,
  settings: Settings,
  io: Io,
): Promise<Client> {
  const { clientOfCaller } = await import('../../client/client.ts');
  return clientOfCaller(await openCaller(connection, observation, settings, io));
}

/** What the requests of a command have shown. */
export interface Observation extends Pick<ClientOptions, 'onAttempt' | 'onNotice'> {
  /** Whether the last response was that of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** Clears what says that something is waited for. */
  end(): void;
}

/**
 * Says on stderr while requests are made what is waited for, a line for each request with `-v`, and what the service is
 * retiring.
 */
export function observe(settings: Settings, io: Io): Observation {
  const isTraced = settings.verbose || settings.debug;
  let endWait: (() => void) | undefined;
  let replayed = false;
  const end = (): void => {
    endWait?.();
    endWait = undefined;
  };
  return {
    get replayed() {
      return replayed;
    },
    end,
    onAttempt: (event) => {
      end();
      replayed = event.replayed;
      if (isTraced) void io.stderr.write(`${sanitise(describeAttempt(event))}\n`);
      if (event.willRetryInMs !== null) endWait = showWait(event, settings, io);
    },
    onNotice: (notice) => void talk([{ tone: 'warning', text: describeNotice(notice) }], settings, io),
  };
}

/**
 * Opens the service on a database in this process, without a socket. Throws `LocalError` when there is no such file and
 * none is to be made.
 */
export async function openInstance(
  db: string,
  io: Io,
  { create, clock = io.now }: { readonly create: boolean; readonly clock?: () => number },
): Promise<Instance> {
  if (!create) checkExists(db, [['A new one:', '--create']]);
  const masterKey = readMasterKey(io);
  const server = await import('../../server/runtime.ts');
  return server.openInstance({ db, clock, create, masterKey });
}

/** What tries out the parts of a server without starting one. */
export type Preflight = typeof import('../../server/preflight.ts');

/** Loads it. */
export const loadPreflight = (): Promise<Preflight> => import('../../server/preflight.ts');

/** What an operator does to a database itself, past the service. */
export type Operator = typeof import('../../operator/index.ts');

/** Loads it. */
export const loadOperator = (): Promise<Operator> => import('../../operator/index.ts');

/** The database that an operator's command names, which must be there, and what can be done to it. */
export async function operateOn({
  flags,
  io,
}: {
  readonly flags: GlobalFlags;
  readonly io: Io;
}): Promise<{ readonly db: string; readonly operator: Operator }> {
  const db = chooseDatabase(flags, io);
  checkExists(db);
  return { db, operator: await loadOperator() };
}
