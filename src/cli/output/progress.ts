import type { AttemptEvent, DeprecationNotice } from '../../client/options.ts';
import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { talk } from './terminal.ts';
import { count } from './words.ts';

/** Shows on stderr how far a work of several parts has come. */
export interface Progress {
  show(part: string, done: number, total: number): void;
  end(): Promise<void>;
}

const BAR = 24;
const PART_WIDTH = 14;
const CLEAR_LINE = '\r\u001b[K';

/** A bar on a terminal, which is gone in the end; elsewhere a line per part. Nothing with `-q` or in a JSON format. */
export function showProgress(settings: Settings, io: Io): Progress {
  return {
    show: (part, done, total) => {
      if (settings.draws) void io.stderr.write(`\r${drawBar(part, done, total)}\u001b[K`);
      else if (done >= total) void talk([{ tone: 'hint', text: `${part}: ${count(done, 'row')}` }], settings, io);
    },
    end: async () => {
      if (settings.draws) await io.stderr.write(CLEAR_LINE);
    },
  };
}

function drawBar(part: string, done: number, total: number): string {
  const filled = Math.floor((BAR * Math.min(done, total)) / Math.max(total, 1));
  return `${part.padEnd(PART_WIDTH)} ${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${done} of ${total}`;
}

const TICK_MS = 1_000;
/** Shorter waits are not worth a line. */
const SHORTEST_SHOWN_MS = 500;

/**
 * Says on a terminal what is waited for after an attempt and counts down, or only says it where nothing may move; returns
 * what clears the line.
 */
export function showWait(event: AttemptEvent, settings: Settings, io: Io): () => void {
  const ms = event.willRetryInMs ?? 0;
  if (!io.stderr.isTTY || ms < SHORTEST_SHOWN_MS) return () => {};
  let left = Math.ceil(ms / TICK_MS);
  const text = (): string => `waiting for ${waitReason(event)}; next attempt in ${left} s`;
  if (!settings.draws) {
    void talk([{ tone: 'hint', text: text() }], settings, io);
    return () => {};
  }
  const draw = (): void => {
    if (left < 1) return;
    void io.stderr.write(`${CLEAR_LINE}${text().slice(0, io.stderr.columns - 1)}`);
    left -= 1;
  };
  draw();
  const timer = setInterval(draw, TICK_MS);
  timer.unref();
  const end = (): void => {
    clearInterval(timer);
    io.stop.removeEventListener('abort', end);
    void io.stderr.write(CLEAR_LINE);
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

/** What the service is retiring. */
export function describeNotice({ operation, sunset }: DeprecationNotice): string {
  const until = sunset === null ? '' : ` and ends on ${sunset}`;
  return `${operation} is being retired${until}; update lkm`;
}
