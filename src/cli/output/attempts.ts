import type { AttemptEvent, DeprecationNotice, Exchange } from '../../client/options.ts';
import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { redacted, withoutAddresses, withoutSecretFields, withoutSecretTexts } from '../request/redact.ts';
import { keepDrawing } from './progress.ts';
import { sanitise, talk } from './terminal.ts';

const TICK_MS = 1_000;
/** A request that takes longer than this is worth a line. */
const SILENCE_MS = 2_000;
/** Shorter waits are not worth a line. */
const MIN_SHOWN_MS = 500;

/**
 * Says on a terminal what is waited for after an attempt and counts down, or only says it where nothing may move; returns
 * what clears the line.
 */
export function showWait(event: AttemptEvent, settings: Settings, io: Io): () => void {
  const ms = event.willRetryInMs ?? 0;
  if (!io.stderr.isTTY || ms < MIN_SHOWN_MS) return () => {};
  const seconds = Math.ceil(ms / TICK_MS);
  const reason = waitReason(event);
  const text = (passed: number) => `waiting for ${reason}; next attempt in ${Math.max(seconds - passed, 1)} s`;
  return tick(text, settings, io);
}

/** Says on a terminal that a request has had no answer for a while; returns what clears the line. */
export function showSilence(settings: Settings, io: Io): () => void {
  if (!io.stderr.isTTY) return () => {};
  let end = (): void => {};
  const timer = setTimeout(() => {
    const before = SILENCE_MS / TICK_MS;
    end = tick((passed) => `waiting for an answer, for ${before + passed} s now`, settings, io);
  }, SILENCE_MS);
  timer.unref();
  return () => {
    clearTimeout(timer);
    end();
  };
}

/** Shows a text that changes with the seconds that have passed, or its first form where nothing may move. */
function tick(textAfter: (seconds: number) => string, settings: Settings, io: Io): () => void {
  if (!settings.draws) {
    void talk([{ tone: 'hint', text: textAfter(0) }], settings, io);
    return () => {};
  }
  let passed = 0;
  const clear = keepDrawing(() => textAfter(passed++), TICK_MS, io);
  const end = (): void => {
    io.stop.removeEventListener('abort', end);
    void clear();
  };
  io.stop.addEventListener('abort', end, { once: true });
  return end;
}

function waitReason({ status }: AttemptEvent): string {
  switch (status) {
    case null:
      return 'the service, which does not answer';
    case 409:
      return 'the first request with this idempotency key';
    case 429:
      return 'the rate limit (429)';
    default:
      return `the service, which answered ${status}`;
  }
}

/** An attempt in a line. */
export function describeAttempt(event: AttemptEvent): string {
  const { operation, attempt, status, durationMs, idempotencyKey, willRetryInMs } = event;
  return [
    `${operation}  ${status ?? 'no answer'}  ${Math.round(durationMs)} ms  attempt ${attempt}`,
    ...(idempotencyKey === null ? [] : [`key ${idempotencyKey}`]),
    ...(willRetryInMs === null ? [] : [`again in ${Math.round(willRetryInMs)} ms`]),
  ].join('  ');
}

const requestHeaders = ['content-type', 'idempotency-key', 'user-agent'];
const responseHeaders = ['content-type', 'x-request-id', 'idempotency-replayed', 'retry-after', 'location', 'server'];

/** A request and its response, without secrets: `>` what was sent, `<` what came back. */
export function describeExchange({ request: { method, url, headers, body }, response }: Exchange): string {
  const sent = [
    `${method} ${withoutSecretFields(url)}`,
    ...(headers.authorization === undefined ? [] : ['authorization: [redacted]']),
    ...requestHeaders.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}`])),
    ...(body === null ? [] : ['', shownBody(body)]),
  ];
  const received =
    response === null
      ? ['no complete response']
      : [
          String(response.status),
          ...responseHeaders.flatMap((name) => {
            const value = response.headers.get(name);
            return value === null ? [] : [`${name}: ${withoutSecretFields(value)}`];
          }),
          ...(response.text === '' ? [] : ['', shownBody(response.text)]),
        ];
  const marked = (mark: string, lines: readonly string[]) =>
    lines.flatMap((line) => line.split('\n')).map((line) => `${mark} ${sanitise(line)}`.trimEnd());
  const text = [...marked('>', sent), ...marked('<', received)].join('\n');
  return `${withoutSecretTexts(withoutAddresses(text))}\n`;
}

/** Longer bodies say no more about what went wrong. */
const MAX_SHOWN = 4_000;

/** What is no JSON may hold anything. */
function shownBody(text: string | null): string {
  if (text === null) return 'a body that is too long';
  try {
    // Masked before it is cut: the half of a key that a cut leaves is found by no pattern.
    const shown = withoutSecretTexts(JSON.stringify(redacted(JSON.parse(text)), null, 2));
    return shown.length > MAX_SHOWN
      ? `${shown.slice(0, MAX_SHOWN)}\n… ${shown.length - MAX_SHOWN} more characters`
      : shown;
  } catch {
    return `${text.length} characters that are no JSON`;
  }
}

/** What the service is retiring. */
export function describeNotice({ operation, sunset }: DeprecationNotice): string {
  const until = sunset === null ? '' : ` and ends on ${sunset}`;
  return `${operation} is being retired${until}; update lkm`;
}
