import { type RawResponse, sendOnce } from '../../../client/attempt.ts';
import { fetchTransport, openNetwork } from '../../../client/network.ts';
import { readBaseUrl } from '../../../client/request.ts';
import { apiVersion } from '../../../contract/index.ts';
import { findToken } from '../../config/token.ts';
import type { CommandContext } from '../../context.ts';
import { count, expiry, typedDuration } from '../../output/words.ts';
import type { RemoteTarget } from '../../request/target.ts';
import { type Asked, type Check, fail, ok, runCheck, warn } from './check.ts';
import { examineTls, proxyFor } from './network.ts';

/** Checks a service over the network, from the way there to what the token may do. */
export async function examineService(target: RemoteTarget, context: CommandContext): Promise<readonly Check[]> {
  const { io } = context;
  const address = await runCheck('address', async () => readBaseUrl(target.baseUrl, { plainHttpAllowed: false }));
  if ('check' in address) return [address];
  const at = { ...address, ca: target.ca };
  const proxy = proxyFor(target.baseUrl, address.isLoopback, io.env);
  const asked = (): Asked => ({ baseUrl: target.baseUrl, tokenFrom: null, now: io.now() });
  const sent = io.now();
  const health = await runCheck('network', () => get('/health', at, context), asked);
  if ('check' in health) return [proxy.check, health, ...(await checkTls(at, proxy.isUsed, context))];
  const received = io.now();
  return [
    proxy.check,
    checkNetwork(health, received - sent, address.host),
    ...(await checkTls(at, proxy.isUsed, context)),
    ...checkClock(health, sent, received),
    await runCheck('ready', async () => checkReady(await get('/ready', at, context)), asked),
    await runCheck('contract', async () => checkContract(await get('/openapi.json', at, context)), asked),
    await checkToken(target, context, asked),
  ];
}

interface Address {
  readonly href: string;
  readonly host: string;
  readonly isLoopback: boolean;
  /** A certificate to trust there in place of those of this machine. */
  readonly ca: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Sends a request once, without a token, and returns the response whatever its status. */
async function get(
  path: string,
  { href, host, isLoopback, ca }: Address,
  context: CommandContext,
): Promise<RawResponse> {
  const { io, settings } = context;
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const transport = io.fetch
    ? fetchTransport(io.fetch)
    : openNetwork({ connectTimeoutMs: timeoutMs, useProxy: !isLoopback, ca });
  const headers = { accept: 'application/json', 'user-agent': `lkm/${io.version}` };
  const request = { url: `${href}${path}`, method: 'GET', headers, body: null } as const;
  const call = { operation: `GET ${path}`, idempotencyKey: null, attempts: 1 };
  const limits = { timeoutMs, maxBytes: MAX_BYTES, signal: io.stop };
  const response = await sendOnce(transport, request, limits, { call, host });
  if (response instanceof Error) throw response;
  return response;
}

function checkNetwork({ status, text }: RawResponse, tookMs: number, host: string): Check {
  const took = `${host} answered within ${tookMs} ms`;
  if (status === 200 && text?.includes('"ok"')) return ok('network', took);
  const advice = 'Is this the address of the service, with its path? A proxy or another program may stand there.';
  return fail('network', `${took} with ${status}, which is not how lkm answers`, advice);
}

async function checkTls(
  { href, ca }: Address,
  isProxied: boolean,
  { io, settings }: CommandContext,
): Promise<readonly Check[]> {
  if (href.startsWith('http:')) return [ok('tls', 'none: plain http stays on this machine')];
  // Through a proxy the connection is its own. With an injected fetch there is no TLS connection to examine.
  if (isProxied || io.fetch !== undefined) return [];
  return [await examineTls(href, { timeoutMs: settings.timeoutMs ?? DEFAULT_TIMEOUT_MS, now: io.now(), ca })];
}

/** More than this and an expiry, a signature or a certificate may be judged wrongly. */
const MAX_SKEW_MS = 30_000;

/** Compares the clocks; the header has whole seconds. */
function checkClock({ headers }: RawResponse, sent: number, received: number): readonly Check[] {
  const there = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(there)) return [];
  const ahead = Math.round((sent + received) / 2) - there;
  const most = MAX_SKEW_MS + (received - sent);
  if (Math.abs(ahead) <= most) return [ok('clock', 'agrees with that of the service')];
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  const detail = `${typedDuration(seconds)} ${ahead > 0 ? 'ahead of' : 'behind'} that of the service`;
  return [warn('clock', detail, 'Set the clock by the network; a relative --expires counts from the clock here.')];
}

function checkReady({ status }: RawResponse): Check {
  if (status === 200) return ok('ready', 'the service and its database work');
  return fail('ready', `the service answers ${status}: its database does not work`, 'Its log says why.');
}

/** The date of the service's contract, beside the one of this command. */
function checkContract({ status, text }: RawResponse): Check {
  const theirs = /"version":\s*"(\d{4}-\d{2}-\d{2})"/.exec(text ?? '')?.[1];
  if (status !== 200 || theirs === undefined) {
    return warn(
      'contract',
      `unknown: the service answers ${status} at /openapi.json`,
      'Some commands may not work with it.',
    );
  }
  if (theirs === apiVersion) return ok('contract', theirs);
  const detail = `the service has that of ${theirs}, this lkm that of ${apiVersion}`;
  return theirs > apiVersion
    ? warn('contract', detail, 'Update lkm; meanwhile lkm api sends what it has no command for.')
    : warn('contract', detail, 'Newer commands may be refused with 404: update the service.');
}

/** A token that expires sooner than this gets a warning. */
const SOON_MS = 14 * 86_400_000;

async function checkToken(target: RemoteTarget, context: CommandContext, asked: () => Asked): Promise<Check> {
  const { flags, io } = context;
  const found = await runCheck('token', async () =>
    // Stdin is read once, by the client.
    flags.tokenFile ? { from: '--token-file' } : findToken(flags, target, io),
  );
  if ('check' in found) return found;
  const { from } = found;
  return runCheck(
    'token',
    () => judgeToken(from, context),
    () => ({ ...asked(), tokenFrom: from }),
  );
}

/** What the service says of the token. */
async function judgeToken(from: string, context: CommandContext): Promise<Check> {
  const { io } = context;
  const { name, kind, scopes, expiresAt } = await (await context.client()).tokens.self();
  const may = kind === 'admin' ? 'may do everything' : count(scopes.length, 'scope');
  const expires = expiresAt === null ? 'never expires' : `expires ${expiry(expiresAt, io.now())}`;
  const detail = `from ${from}: ${name}, ${kind}, ${may}, ${expires}`;
  if (expiresAt === null || Date.parse(expiresAt) - io.now() > SOON_MS) return ok('token', detail);
  return warn('token', detail, `Make another: lkm tokens create --kind ${kind} --name NAME`);
}
