import type { AttemptEvent, Client, ClientOptions, DeprecationNotice } from '../../client/index.ts';
import type { Fetch } from '../../contract/endpoint.ts';
import type { Instance } from '../../server/runtime.ts';
import { checkExists } from '../config/location.ts';
import type { Settings } from '../config/settings.ts';
import type { Target } from '../config/target.ts';
import type { FoundToken } from '../config/token.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { sanitise } from '../output/sanitise.ts';
import { talk } from '../output/talk.ts';

/** A service that can be called. */
export interface Connection {
  readonly baseUrl: string;
  readonly fetch: Fetch | undefined;
  readonly token: FoundToken | null;
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
    return { baseUrl: target.baseUrl, fetch: io.fetch, token, close: async () => {} };
  }
  const given = flags.tokenFile ? await readGiven(flags.tokenFile, io) : undefined;
  const instance = await openInstance(target.db, io, { create: flags.create ?? false });
  const token = given ? { token: given, from: '--token-file' } : { token: instance.ownerToken, from: '--db' };
  return { baseUrl: inProcessUrl, fetch: instance.fetch, token, close: () => instance.close() };
}

async function readGiven(file: string, io: Io): Promise<string> {
  const { readTokenFile } = await import('../config/token.ts');
  return readTokenFile(file, io);
}

/** The typed client on a connection, which says on stderr what the settings want to know of its requests. */
export async function openClient({ baseUrl, token, fetch }: Connection, settings: Settings, io: Io): Promise<Client> {
  const { createClient } = await import('../../client/index.ts');
  const { timeoutMs, maxRetries, maxWaitMs } = settings;
  return createClient({
    baseUrl,
    token: token?.token,
    userAgent: `lkm/${io.version}`,
    ...{ timeoutMs, maxRetries, maxWaitMs },
    ...{ fetch, timing: io.timing },
    ...observe(settings, io),
  });
}

/**
 * Opens the service on a database in this process: same requests, same answers, no socket. Throws `LocalError` when
 * there is no such file and none is to be made.
 */
export async function openInstance(
  db: string,
  io: Pick<Io, 'now'>,
  { create }: { readonly create: boolean },
): Promise<Instance> {
  if (!create) checkExists(db, [['A new one:', '--create']]);
  const server = await import('../../server/runtime.ts');
  return server.openInstance({ db, clock: io.now });
}

/** What an operator does to a database itself, past the service. */
export type Operator = typeof import('../../operator/index.ts');

/** Loads it. */
export const loadOperator = (): Promise<Operator> => import('../../operator/index.ts');

/** A line for each request with `-v`, and a warning for what the service is retiring. */
function observe(settings: Settings, io: Io): Pick<ClientOptions, 'onAttempt' | 'onNotice'> {
  const isTraced = settings.verbose || settings.debug;
  return {
    onAttempt: (event) => void (isTraced && io.stderr.write(`${sanitise(describeAttempt(event))}\n`)),
    onNotice: (notice) => void talk([{ tone: 'warning', text: describeNotice(notice) }], settings, io),
  };
}

function describeAttempt(event: AttemptEvent): string {
  const { operation, attempt, status, durationMs, idempotencyKey, willRetryInMs } = event;
  return [
    `${operation}  ${status ?? 'no answer'}  ${Math.round(durationMs)} ms  attempt ${attempt}`,
    ...(idempotencyKey === null ? [] : [`key ${idempotencyKey}`]),
    ...(willRetryInMs === null ? [] : [`again in ${Math.round(willRetryInMs)} ms`]),
  ].join('  ');
}

function describeNotice({ operation, sunset }: DeprecationNotice): string {
  const until = sunset === null ? '' : ` and ends on ${sunset}`;
  return `${operation} is being retired${until}; update lkm`;
}
