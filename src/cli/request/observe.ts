import type { AttemptEvent, ClientOptions, Exchange } from '../../client/options.ts';
import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { keepDrawing } from '../output/progress.ts';
import { sanitise, talk } from '../output/terminal.ts';
import { withoutAddresses, withoutSecretFields, withoutSecrets, withoutSecretTexts } from './without-secrets.ts';

export type RequestHooks = Pick<ClientOptions, 'onSend' | 'onAttempt' | 'onExchange' | 'onNotice' | 'onKeyLost'>;

/** Prints a line per request with `-v`, headers and bodies without secrets with `--debug`, and warnings of the service. */
export function traced({ verbose, debug, ...settings }: Settings, io: Io) {
  const { stderr } = io;
  let isKeyLost = false;
  return {
    onAttempt: (event: AttemptEvent) =>
      void ((verbose || debug) && stderr.write(`${sanitise(describeAttempt(event))}\n`)),
    onExchange: (exchange: Exchange) => void (debug && stderr.write(describeExchange(exchange))),
    onKeyLost: () => {
      if (isKeyLost) return;
      isKeyLost = true;
      const text =
        'something between here and the service drops the header Idempotency-Key: a change that is repeated would be made twice.\n' +
        'Have the proxy pass it on; lkm doctor checks it.';
      void talk([{ tone: 'warning', text }], settings, io);
    },
    onNotice: ({ operation, sunset }) => {
      const until = sunset === null ? '' : ` and ends on ${sunset}`;
      void talk([{ tone: 'warning', text: `${operation} is being retired${until}; update lkm` }], settings, io);
    },
  } satisfies RequestHooks;
}

const TICK_MS = 1_000;
/** A longer request is reported. */
const SILENCE_MS = 2_000;
/** Shorter waits are not reported. */
const MIN_SHOWN_MS = 500;

/** {@link traced}, and a line about each wait: on a terminal with its seconds. */
export function observe(settings: Settings, io: Io): RequestHooks & { readonly replayed: boolean; end(): void } {
  const trace = traced(settings, io);
  let replayed = false;
  let clear = (): void => {};
  const clearAll = (): void => clear();
  io.stop.addEventListener('abort', clearAll);

  /** Shows a text that counts seconds; where nothing may move, prints it once. */
  function show(textAfter: (seconds: number) => string): void {
    if (!settings.draws) return void talk([{ tone: 'hint', text: textAfter(0) }], settings, io);
    let passed = 0;
    const erase = keepDrawing(() => textAfter(passed++), TICK_MS, io);
    clear = () => {
      clear = () => {};
      void erase();
    };
  }

  return {
    ...trace,
    /** Whether the last response replays an earlier request with the same idempotency key. */
    get replayed() {
      return replayed;
    },
    end: () => {
      clear();
      io.stop.removeEventListener('abort', clearAll);
    },
    onSend: () => {
      clear();
      if (!io.stderr.isTTY) return;
      const before = SILENCE_MS / TICK_MS;
      const timer = setTimeout(show, SILENCE_MS, (more: number) => `waiting for an answer, for ${before + more} s now`);
      timer.unref();
      clear = () => clearTimeout(timer);
    },
    onAttempt: (event) => {
      clear();
      replayed = event.replayed && event.attempt === 1;
      trace.onAttempt(event);
      const ms = event.willRetryInMs ?? 0;
      if (!io.stderr.isTTY || ms < MIN_SHOWN_MS) return;
      const seconds = Math.ceil(ms / TICK_MS);
      show((passed) => `waiting for ${waitReason(event)}; next attempt in ${Math.max(seconds - passed, 1)} s`);
    },
  };
}

function waitReason({ status }: AttemptEvent): string {
  if (status === 409) return 'the first request with this idempotency key';
  if (status === 429) return 'the rate limit (429)';
  return `the service, which ${status === null ? 'does not answer' : `answered ${status}`}`;
}

function describeAttempt(event: AttemptEvent): string {
  const { operation, attempt, status, durationMs, willRetryInMs } = event;
  return [
    `${operation}  ${status ?? 'no answer'}  ${Math.round(durationMs)} ms  attempt ${attempt}`,
    ...(willRetryInMs === null ? [] : [`again in ${Math.round(willRetryInMs)} ms`]),
  ].join('  ');
}

/** An idempotency key opens the response that is stored under it. */
const secretHeaders = ['authorization', 'idempotency-key'];
const requestHeaders = ['content-type', 'user-agent'];
const responseHeaders = ['content-type', 'x-request-id', 'idempotency-replayed', 'retry-after', 'location', 'server'];

/** A request (`>`) and its response (`<`), without secrets. */
export function describeExchange({ request: { method, url, headers, body }, response }: Exchange): string {
  const shownHeaders = (names: readonly string[], find: (name: string) => string | null | undefined) =>
    names.flatMap((name) => {
      const value = find(name);
      return value == null ? [] : [`${name}: ${withoutSecretFields(value)}`];
    });
  const sent = [
    `${method} ${withoutSecretFields(url)}`,
    ...secretHeaders.filter((name) => headers[name] !== undefined).map((name) => `${name}: [redacted]`),
    ...shownHeaders(requestHeaders, (name) => headers[name]),
    ...(body === null ? [] : ['', shownBody(body)]),
  ];
  const received =
    response === null
      ? ['no complete response']
      : [
          String(response.status),
          ...shownHeaders(responseHeaders, (name) => response.headers.get(name)),
          ...(response.text === '' ? [] : ['', shownBody(response.text)]),
        ];
  const marked = (mark: string, lines: readonly string[]) =>
    lines.flatMap((line) => line.split('\n')).map((line) => `${mark} ${sanitise(line)}`.trimEnd());
  const text = [...marked('>', sent), ...marked('<', received)].join('\n');
  return `${withoutSecretTexts(withoutAddresses(text))}\n`;
}

/** Longer bodies do not help to find an error. */
const MAX_SHOWN_LENGTH = 4_000;

/** Text that is not JSON may contain any secret: only its length is shown. */
function shownBody(text: string | null): string {
  if (text === null) return 'a body that is too long';
  try {
    // Masked before the cut: no pattern recognises half a key.
    const shown = withoutSecretTexts(JSON.stringify(withoutSecrets(JSON.parse(text)), null, 2));
    const more = shown.length - MAX_SHOWN_LENGTH;
    return more > 0 ? `${shown.slice(0, MAX_SHOWN_LENGTH)}\n… ${more} more characters` : shown;
  } catch {
    return `${text.length} characters that are no JSON`;
  }
}
