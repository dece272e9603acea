import { type RawResponse, sendOnce } from '../../../client/attempt.ts';
import { fetchTransport, openNetwork } from '../../../client/network.ts';
import { type HttpProxy, proxyFor } from '../../../client/proxy.ts';
import { readBaseUrl } from '../../../client/request.ts';
import { isKeyLost } from '../../../client/response.ts';
import { apiVersion } from '../../../contract/index.ts';
import { findToken } from '../../config/token.ts';
import type { CommandContext } from '../../context.ts';
import { hintsByReason } from '../../failure/advice.ts';
import { hintText } from '../../failure/errors.ts';
import { count, expiry, typedDuration } from '../../output/words.ts';
import type { RemoteTarget } from '../../request/target.ts';
import { type Check, fail, failed, ok, warn } from './check.ts';

/** Checks a service from its address to the rights of the token. */
export async function examineService(target: RemoteTarget, context: CommandContext): Promise<readonly Check[]> {
  const { io } = context;
  const asked = { baseUrl: target.baseUrl, tokenFrom: null, now: io.now() };
  const found = await Promise.try(() => readBaseUrl(target.baseUrl, { plainHttpAllowed: false })).catch(
    failed('address', asked),
  );
  if ('check' in found) return [found];
  const proxy = await Promise.try(() => (found.isLoopback ? null : proxyFor(target.baseUrl, io.env))).catch(
    failed('address', asked),
  );
  if (proxy !== null && 'check' in proxy) return [proxy];
  const address = { ...found, proxy };
  const sent = io.now();
  const health = await get('/health', address, context).catch(failed('address', asked));
  const received = io.now();
  if ('check' in health) return [health];
  const reached = checkAddress(health, received - sent, address);
  // Another program answered.
  if (reached.status === 'fail') return [reached];
  return [
    reached,
    ...checkClock(health, sent, received),
    await get('/ready', address, context).then(checkDatabase).catch(failed('database', asked)),
    await get('/openapi.json', address, context).then(checkContract).catch(failed('contract', asked)),
    await send('POST', '/product', address, context)
      .then(checkKeyHeader(PROBE_KEY))
      .catch(failed('idempotency', asked)),
    await checkToken(target, context),
  ];
}

type Address = ReturnType<typeof readBaseUrl> & { readonly proxy: HttpProxy | null };

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Sent without a token: the service refuses the request and changes nothing. */
const PROBE_KEY = 'lkm-doctor';

const get = (path: string, address: Address, context: CommandContext) => send('GET', path, address, context);

/** Sends a request once without a token; returns the response with any status. */
async function send(
  method: 'GET' | 'POST',
  path: string,
  { href, host, proxy }: Address,
  { io, settings }: CommandContext,
): Promise<RawResponse> {
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const transport = io.fetch ? fetchTransport(io.fetch) : openNetwork({ connectTimeoutMs: timeoutMs, proxy });
  const headers = {
    ...{ accept: 'application/json', 'user-agent': `lkm/${io.version}` },
    ...(method === 'POST' && { 'idempotency-key': PROBE_KEY }),
  };
  const request = { url: `${href}${path}`, method, headers, body: null } as const;
  const call = { operation: `${method} ${path}`, idempotencyKey: null, attempts: 1 };
  const limits = { timeoutMs, maxBytes: MAX_BYTES, signal: io.stop };
  const response = await sendOnce(transport, request, limits, { call, host, proxy: proxy?.shown });
  if (response instanceof Error) throw response;
  return response;
}

function checkAddress({ status, text }: RawResponse, tookMs: number, { host, proxy }: Address): Check {
  const took = `${host} answered within ${tookMs} ms${proxy === null ? '' : `, through the proxy ${proxy.shown}`}`;
  if (status === 200 && text?.includes('"ok"')) return ok('address', took);
  const message = /"message":\s*"([^"]+)"/.exec(text ?? '')?.[1];
  const [forHost = ''] = hintsByReason.misdirected ?? [];
  if (status === 421 && message !== undefined)
    return fail('address', `${took} with 421: ${message}`, hintText(forHost));
  const advice = 'Is this the address of the service, with its path? A proxy or another program may stand there.';
  return fail('address', `${took} with ${status}, which is not how lkm answers`, advice);
}

/** With a larger difference, expiries, signatures and certificates may be judged wrongly. */
const MAX_SKEW_MS = 30_000;

/** The header has whole seconds. */
function checkClock({ headers }: RawResponse, sent: number, received: number): readonly Check[] {
  const there = Date.parse(headers.get('date') ?? '');
  if (Number.isNaN(there)) return [];
  const ahead = Math.round((sent + received) / 2) - there;
  if (Math.abs(ahead) <= MAX_SKEW_MS + received - sent) return [ok('clock', 'agrees with the clock of the service')];
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  const detail = `${typedDuration(seconds)} ${ahead > 0 ? 'ahead of' : 'behind'} the clock of the service`;
  return [warn('clock', detail, 'Set the clock by the network; a relative --expires counts from the clock here.')];
}

function checkDatabase({ status }: RawResponse): Check {
  if (status === 200) return ok('database', 'the database of the service works');
  return fail('database', `the service answers ${status}: its database does not work`, 'Its log says why.');
}

/** Checks that idempotency keys reach the service, which returns the key that it received. */
const checkKeyHeader =
  (key: string) =>
  ({ headers }: RawResponse): Check => {
    if (headers.get('lkm-idempotency-key') === null)
      return ok('idempotency', 'the service does not report the key that it received');
    if (!isKeyLost(headers, key)) return ok('idempotency', 'the key of a change reaches the service');
    const advice =
      'Have the proxy in between pass on the header Idempotency-Key: without it, a repeated change is made twice.';
    return fail('idempotency', 'the key of a change does not reach the service', advice);
  };

/** Compares the dates of both contracts. */
function checkContract({ status, text }: RawResponse): Check {
  const theirs = /"version":\s*"(\d{4}-\d{2}-\d{2})"/.exec(text ?? '')?.[1];
  if (status !== 200 || theirs === undefined) {
    const detail = `unknown: the service answers ${status} at /openapi.json`;
    return warn('contract', detail, 'Some commands may not work with it.');
  }
  if (theirs === apiVersion) return ok('contract', theirs);
  const advice =
    theirs > apiVersion
      ? 'Update lkm; meanwhile lkm api sends requests without a command.'
      : 'Newer commands may be refused with 404: update the service.';
  return warn('contract', `the service has the contract of ${theirs}, this lkm has ${apiVersion}`, advice);
}

const SOON_MS = 14 * 86_400_000;

async function checkToken(target: RemoteTarget, context: CommandContext): Promise<Check> {
  const { flags, io } = context;
  const now = io.now();
  // The client reads stdin later.
  const found = flags.tokenFile ? { from: '--token-file' } : await findToken(flags, target, io).catch(failed('token'));
  if ('check' in found) return found;
  const asked = { baseUrl: target.baseUrl, tokenFrom: found.from, now };
  const self = await context
    .client()
    .then((client) => client.tokens.self())
    .catch(failed('token', asked));
  if ('check' in self) return self;
  const { name, kind, scopes, expiresAt } = self;
  const may = kind === 'admin' ? 'may do everything' : count(scopes.length, 'scope');
  const expires = expiresAt === null ? 'never expires' : `expires ${expiry(expiresAt, now)}`;
  const detail = `from ${found.from}: ${name}, ${kind}, ${may}, ${expires}`;
  if (expiresAt === null || Date.parse(expiresAt) - now > SOON_MS) return ok('token', detail);
  return warn('token', detail, `Make another: lkm tokens create --kind ${kind} --name NAME`);
}
