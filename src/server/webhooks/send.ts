import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Outcome } from '../../domain/webhooks/outcome.ts';
import { urlProblem } from '../../domain/webhooks/url.ts';
import { AddressRefused, createResolve, guardedLookup, type Resolve } from './guard.ts';

/** One attempt to send an event. */
export interface Attempt {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the attempt when the server stops. */
  readonly signal: AbortSignal;
}

/** How an attempt ended. An event is accepted by a whole response of 2xx in time. */
export interface SendResult extends Outcome {
  /** Why it was not accepted; null when it was. */
  readonly error: string | null;
  /** The beginning of the response. */
  readonly answer: string;
}

/** Sends events. Never rejects; null when the attempt was ended because the server stops. */
export interface Sender {
  send(attempt: Attempt): Promise<SendResult | null>;
  /** Closes the connections that wait for more. */
  close(): void;
}

/** What a sender may do. */
export interface SenderOptions {
  /** Whether it may use plain HTTP and addresses that are not public. */
  readonly allowPrivate: boolean;
  /** How names are looked up where addresses are checked. */
  readonly resolve?: Resolve;
  /** How long an attempt may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** Certificates (PEM) that are trusted in place of those of the system. */
  readonly ca?: string;
}

/** How long an attempt may take, from the look-up of the name to the end of the response (Standard Webhooks). */
const TIMEOUT_MS = 15_000;

/** How much of a response is read, in bytes. What is longer is cut off, and counts as whole. */
const MAX_ANSWER_BYTES = 4_096;

/** Makes a sender. Its connections are kept for a moment and used again; no redirect is followed, no proxy is used. */
export function createSender(options: SenderOptions): Sender {
  const { allowPrivate, timeoutMs = TIMEOUT_MS, ca } = options;
  const kept = { keepAlive: true, maxFreeSockets: 32, scheduling: 'lifo' } as const;
  const plain = new HttpAgent(kept);
  const verified = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  const secure = new HttpsAgent({ ...kept, ...verified });
  const lookup = allowPrivate ? undefined : guardedLookup(options.resolve ?? createResolve());

  /** Over a connection that is kept, if there is one, or a new one. */
  function open({ url, headers, body }: Attempt, connection: 'kept' | 'new'): ClientRequest {
    const shared = {
      method: 'POST',
      ...(lookup && { lookup }),
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    };
    const isNew = connection === 'new';
    if (url.startsWith('http:')) return httpRequest(url, { ...shared, agent: isNew ? false : plain });
    return httpsRequest(url, { ...shared, ...verified, agent: isNew ? false : secure });
  }

  function sendOnce(
    attempt: Attempt,
    { connection, timeout }: { readonly connection: 'kept' | 'new'; readonly timeout: AbortSignal },
  ): Promise<SendResult | 'again' | null> {
    return new Promise((resolve) => {
      const request = open(attempt, connection);
      let response: IncomingMessage | null = null;
      let answer: Buffer = Buffer.alloc(0);

      const giveUp = () => fail(`no complete response within ${timeoutMs / 1_000} s`);
      timeout.addEventListener('abort', giveUp, { once: true });
      const stop = () => end(null);
      attempt.signal.addEventListener('abort', stop, { once: true });

      function end(outcome: SendResult | 'again' | null): void {
        timeout.removeEventListener('abort', giveUp);
        attempt.signal.removeEventListener('abort', stop);
        if (response === null || !response.complete) request.destroy();
        resolve(outcome);
      }

      const resultOf = (error: string | null): SendResult => ({
        accepted: error === null,
        status: response?.statusCode ?? null,
        error,
        answer: answer.toString('utf8'),
        retryAfterSeconds: response === null ? null : readRetryAfter(response),
      });
      const fail = (error: string) => end(resultOf(error));
      const finish = () => end(resultOf(refusalOf(response?.statusCode ?? 0)));

      request.on('response', (message) => {
        response = message;
        message.on('data', (chunk: Buffer) => {
          answer = Buffer.concat([answer, chunk.subarray(0, MAX_ANSWER_BYTES - answer.length)]);
          if (answer.length === MAX_ANSWER_BYTES) finish();
        });
        message.on('end', finish);
        message.on('error', (error: NodeJS.ErrnoException) => fail(describe(error)));
        message.on('aborted', () => fail('response broken off'));
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The receiver has closed a kept connection at the moment in which it was used: that says nothing of it.
        if (request.reusedSocket && response === null && isReset(error)) end('again');
        else fail(describe(error));
      });
      request.end(attempt.body);
    });
  }

  return {
    async send(attempt) {
      const why = urlProblem(attempt.url, { allowPrivate });
      if (why !== null) return refused(why);
      if (attempt.signal.aborted) return null;
      const timeout = AbortSignal.timeout(timeoutMs);
      const outcome = await sendOnce(attempt, { connection: 'kept', timeout });
      if (outcome !== 'again') return outcome;
      if (timeout.aborted) return refused('connection reset');
      // Once, and in the time that is left: a receiver that fails at this event is not to get it over and over.
      const second = await sendOnce(attempt, { connection: 'new', timeout });
      return second === 'again' ? refused('connection reset') : second;
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

const refused = (error: string): SendResult => ({
  accepted: false,
  status: null,
  error,
  answer: '',
  retryAfterSeconds: null,
});

/** Why a response does not accept; null when it does. */
function refusalOf(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? `answered ${status}: redirects are not followed` : `answered ${status}`;
}

const isReset = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

/** An error of the network in words. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return describe(error.errors[0]);
  if (error instanceof AddressRefused) return 'its address is not public';
  const { code = '' } = error;
  const known = words[code];
  if (known !== undefined) return known;
  if (/CERT|SIGNATURE|SSL|TLS/.test(code)) return `TLS failed (${code})`;
  return code === '' ? 'connection failed' : `connection failed (${code})`;
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ENOTFOUND: 'name not found',
  ENODATA: 'name not found',
  ETIMEOUT: 'name server did not answer',
  ESERVFAIL: 'name server failed',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'connection timed out',
};

/** The delay of a `Retry-After` header, in seconds; null when it is absent or cannot be read. */
function readRetryAfter({ headers }: IncomingMessage): number | null {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const [due, sent] = [Date.parse(text), Date.parse(headers.date ?? '')];
  return Number.isNaN(due) || Number.isNaN(sent) ? null : Math.max(0, Math.ceil((due - sent) / 1_000));
}
