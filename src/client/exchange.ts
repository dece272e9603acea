import { type Loss, readLoss } from './loss.ts';
import { readText } from './read-text.ts';
import { MAX_TIMER_MS } from './timing.ts';
import type { Outgoing, Transport } from './transport.ts';

/** A whole answer. */
export interface Answer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: Headers;
  /** Null when it is too long to be read. */
  readonly text: string | null;
}

/** Bounds of one exchange. */
interface Bounds {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request once and reads the whole answer. Throws only the reason of the caller's signal. */
export async function exchange(transport: Transport, outgoing: Outgoing, bounds: Bounds): Promise<Answer | Loss> {
  const { timeoutMs, signal } = bounds;
  const deadline = new AbortController();
  const late = new DOMException(`no whole answer within ${timeoutMs} ms`, 'TimeoutError');
  const timer = setTimeout(() => deadline.abort(late), Math.min(timeoutMs, MAX_TIMER_MS));
  const end = AbortSignal.any(signal ? [signal, deadline.signal] : [deadline.signal]);
  try {
    return await orAbort(sendAndRead(transport, outgoing, end), end);
  } catch (cause) {
    signal?.throwIfAborted();
    return readLoss(cause, deadline.signal.aborted);
  } finally {
    clearTimeout(timer);
  }
}

async function sendAndRead(transport: Transport, outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
  const response = await transport(outgoing, signal);
  return { kind: 'answer', status: response.status, headers: response.headers, text: await readText(response) };
}

/** A `Fetch` need not heed the signal; the caller is answered in time all the same. */
function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
