import { promises as dns, type LookupAddress } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { Outcome } from '../../domain/webhooks/outcome.ts';
import { isPublicAddress, urlProblem } from '../../domain/webhooks/url.ts';

interface Attempt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt when the server stops. */
  readonly signal: AbortSignal;
}

/** The outcome of an attempt. A complete 2xx response in time accepts the event. */
export interface SendResult extends Outcome {
  /** Why it was not accepted; null when it was. */
  readonly error: string | null;
  readonly answer: string;
}

export type Sender = ReturnType<typeof createSender>;

/** All addresses of a name. Rejects for a name without an address. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export interface SenderOptions {
  /** Whether it may use plain HTTP and addresses that are not public. */
  readonly allowPrivate: boolean;
  /** How names are looked up where addresses are checked. */
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  /** Certificates (PEM) that are trusted in place of the system's certificates. */
  readonly ca?: string;
}

/** How long an attempt may take, from the look-up of the name to the end of the response (Standard Webhooks). */
const TIMEOUT_MS = 15_000;

/** How long a name server may take to answer, and how often it is asked. */
const NAME_SERVERS = { timeout: 3_000, tries: 2 };

/** How much of a response is read, in bytes. A longer response is cut off and counts as complete. */
const MAX_ANSWER_BYTES = 4_096;

/**
 * How long an idle connection is kept, in milliseconds. Receivers keep connections for longer, so that a receiver does not
 * close a connection just when an attempt uses it.
 */
const KEEP_MS = 1_000;

/** Makes a sender. It reuses connections for a moment, follows no redirect and uses no proxy. */
export function createSender({ allowPrivate, timeoutMs = TIMEOUT_MS, ca, ...options }: SenderOptions) {
  const resolver = new dns.Resolver(NAME_SERVERS);
  const resolve = options.resolve ?? ((name) => resolveWith(resolver, name));
  const lookup = allowPrivate ? undefined : guardedLookup(resolve);
  // Certificates are verified even if `NODE_TLS_REJECT_UNAUTHORIZED` is 0.
  const tls = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  const connect = { ...tls, ...(lookup && { lookup }), timeout: timeoutMs };
  const open = async () => {
    const { Agent, request } = await import('undici');
    const keeping = { keepAliveTimeout: KEEP_MS, keepAliveMaxTimeout: KEEP_MS };
    return {
      request,
      dispatcher: new Agent({ connect, ...keeping, headersTimeout: 0, bodyTimeout: 0, allowH2: false }),
    };
  };
  let opened: ReturnType<typeof open> | undefined;
  const tooLate = `no complete response within ${timeoutMs / 1_000} s`;

  return {
    /** Never rejects; null when the attempt was ended because the server stops. */
    async send({ url, headers, body, signal: stopped }: Attempt): Promise<SendResult | null> {
      const why = urlProblem(url, { allowPrivate });
      if (why !== null) return refused(why);
      opened ??= open();
      const { request, dispatcher } = await opened;
      const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)]);
      const result = await request(url, { method: 'POST', headers, body, signal, dispatcher })
        .then(readResponse)
        .catch((error: Error) => refused(describe(error)));
      if (!signal.aborted || result.accepted) return result;
      return stopped.aborted ? null : { ...result, error: tooLate };
    },
    /** Cancels look-ups and closes all connections. */
    close(): void {
      resolver.cancel();
      void opened?.then(({ dispatcher }) => dispatcher.destroy());
    },
  };
}

class AddressRefused extends Error {}

/**
 * Looks up names for connections and refuses a name if any of its addresses is not public. The connection goes to an address
 * that was checked here, so a later change of the name's addresses does not matter.
 */
function guardedLookup(resolve: Resolve): LookupFunction {
  return (name, options, callback) => {
    resolve(name).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
          callback(new AddressRefused(`${name} is not at a public address`), '');
        } else if (options.all) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}

/**
 * Asks name servers for IPv4 and IPv6 addresses at the same time. `getaddrinfo` is not used: a process runs only four of its calls
 * at one time and cannot cancel them, so a few slow names would delay all webhooks.
 */
async function resolveWith(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = [
    ...(v4.status === 'fulfilled' ? v4.value : []).map((address) => ({ address, family: 4 })),
    ...(v6.status === 'fulfilled' ? v6.value : []).map((address) => ({ address, family: 6 })),
  ];
  if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
  return found;
}

async function readResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<SendResult> {
  let answer: Buffer = Buffer.alloc(0);
  let error = refusalOf(statusCode);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      answer = Buffer.concat([answer, chunk.subarray(0, MAX_ANSWER_BYTES - answer.length)]);
      if (answer.length === MAX_ANSWER_BYTES) break;
    }
  } catch {
    error = 'response broken off';
  }
  const retryAfterSeconds = readRetryAfter(headers);
  // The attempt asks for `identity`, but some receivers compress all the same.
  const coding = String(headers['content-encoding'] ?? '');
  const text = coding === '' ? answer.toString('utf8') : `(${coding})`;
  return { accepted: error === null, status: statusCode, error, answer: text, retryAfterSeconds };
}

const refused = (error: string): SendResult => ({
  accepted: false,
  status: null,
  error,
  answer: '',
  retryAfterSeconds: null,
});

function refusalOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `answered ${status}: redirects are not followed` : `answered ${status}`;
}

/** The meaning of error codes; the first match counts. */
const meanings: readonly (readonly [code: RegExp, meaning: string])[] = [
  [/^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/, 'connection reset'],
  [/^ECONNREFUSED$/, 'nothing listens there'],
  [/^(ENOTFOUND|ENODATA)$/, 'name not found'],
  [/^(ETIMEOUT|EAI_AGAIN|ESERVFAIL|EREFUSED|ECANCELLED)$/, 'the name server did not answer'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|EHOSTUNREACH|ENETUNREACH)$/, 'it cannot be reached'],
  [/^CERT_HAS_EXPIRED$/, 'certificate expired'],
  [/^CERT_NOT_YET_VALID$/, 'certificate is not valid yet'],
  [/ALTNAME_INVALID$/, 'certificate is for another name'],
  [/SELF_SIGNED_CERT|^(UNABLE_TO_|INVALID_CA)/, 'certificate is not signed by a trusted authority'],
  [/^(CERT_|CRL_|INVALID_|ERR_TLS_CERT)/, 'certificate cannot be verified'],
  [/^(ERR_SSL_|EPROTO)/, 'it does not speak TLS as it should'],
  [/^HPE_/, 'its answer is not HTTP'],
];

function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return describe(error.errors[0]);
  if (error instanceof AddressRefused) return 'its address is not public';
  const { code = error.name, syscall = '' } = error;
  // The name server refused the connection, not the receiver.
  if (syscall.startsWith('query') && code === 'ECONNREFUSED') return 'the name server did not answer';
  return meanings.find(([pattern]) => pattern.test(code))?.[1] ?? `connection failed (${code})`;
}

/** The delay of a `Retry-After` header, in seconds; null when it is absent or cannot be read. */
function readRetryAfter(headers: IncomingHttpHeaders): number | null {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const [due, sent] = [Date.parse(text), Date.parse(headers.date ?? '')];
  return Number.isNaN(due) || Number.isNaN(sent) ? null : Math.max(0, Math.ceil((due - sent) / 1_000));
}
