import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { talk } from '../output/terminal.ts';
import { count, typedDuration } from '../output/words.ts';
import type { Settled } from '../state/runs.ts';

/** Shows on a terminal how far a run has come, how fast it goes and how long it will take. */
export interface BulkProgress {
  answered(state: Settled): void;
  /** The service has asked to wait. */
  waiting(ms: number): void;
  end(): Promise<void>;
}

const BAR = 20;
const FRAME_MS = 100;
const LINE_EVERY_MS = 10_000;
const CLEAR_LINE = '\r\u001b[K';

interface Shown {
  readonly done: string;
  readonly total: number;
  /** Rows that were settled before. */
  readonly before: number;
  readonly failedBefore: number;
}

/** A line that is drawn anew; on a terminal where nothing may move, a line every ten seconds; elsewhere nothing. */
export function showBulkProgress(shown: Shown, settings: Settings, io: Io): BulkProgress {
  if (!io.stderr.isTTY) return { answered: () => {}, waiting: () => {}, end: async () => {} };
  const startedAt = io.now();
  let settled = shown.before;
  let failed = shown.failedBefore;
  let waitsUntil = 0;
  const moment = (): Moment => ({
    ...shown,
    settled,
    failed,
    ms: io.now() - startedAt,
    waitMs: waitsUntil - io.now(),
  });
  const draw = (): void => void io.stderr.write(`${CLEAR_LINE}${lineOf(moment()).slice(0, io.stderr.columns - 1)}`);
  const say = (): void => void talk([{ tone: 'hint', text: textOf(moment()) }], settings, io);
  const timer = settings.draws ? setInterval(draw, FRAME_MS) : setInterval(say, LINE_EVERY_MS);
  timer.unref();
  if (settings.draws) draw();
  return {
    answered: ({ kind }) => {
      settled += 1;
      if (kind !== 'done') failed += 1;
    },
    waiting: (ms) => {
      waitsUntil = Math.max(waitsUntil, io.now() + ms);
    },
    end: async () => {
      clearInterval(timer);
      if (settings.draws) await io.stderr.write(CLEAR_LINE);
    },
  };
}

interface Moment extends Shown {
  readonly settled: number;
  readonly failed: number;
  readonly ms: number;
  readonly waitMs: number;
}

/** `████░░░░ 312 of 500 created · 4 failed · 120/s · 2s left`. */
export function lineOf(moment: Moment): string {
  const filled = Math.floor((BAR * moment.settled) / moment.total);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${textOf(moment)}`;
}

/** The same without the bar. */
function textOf({ done, total, before, settled, failed, ms, waitMs }: Moment): string {
  const perSecond = ms > 0 ? ((settled - before) * 1_000) / ms : 0;
  const parts = [
    `${settled} of ${total} ${done}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(perSecond > 0 ? [`${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`] : []),
    ...(perSecond > 0 && settled < total ? [`${typedDuration(Math.ceil((total - settled) / perSecond))} left`] : []),
    ...(waitMs > 0 ? [`the service asks to wait ${count(Math.ceil(waitMs / 1_000), 'second')}`] : []),
  ];
  return parts.join(' · ');
}
