import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { drawsOn } from '../output/terminal.ts';
import { count, typedDuration } from '../output/words.ts';
import type { RowState } from './row-states.ts';

/** Shows on a terminal how far a run has come, how fast it goes and how long it will take. */
export interface BulkProgress {
  answered(state: RowState): void;
  /** The service has asked to wait. */
  waiting(ms: number): void;
  end(): Promise<void>;
}

const BAR = 20;
const FRAME_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

interface Shown {
  readonly done: string;
  readonly total: number;
  /** Rows that were settled before. */
  readonly before: number;
  readonly failedBefore: number;
}

/** Nothing is drawn unless stderr is a terminal. */
export function showBulkProgress(shown: Shown, settings: Settings, io: Io): BulkProgress {
  if (!drawsOn(settings, io)) return { answered: () => {}, waiting: () => {}, end: async () => {} };
  const startedAt = io.now();
  let settled = shown.before;
  let failed = shown.failedBefore;
  let waitsUntil = 0;
  const draw = (): void => {
    const ms = io.now() - startedAt;
    const line = lineOf({ ...shown, settled, failed, ms, waitMs: waitsUntil - io.now() });
    void io.stderr.write(`${CLEAR_LINE}${line.slice(0, io.stderr.columns - 1)}`);
  };
  const timer = setInterval(draw, FRAME_MS);
  timer.unref();
  draw();
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
      await io.stderr.write(CLEAR_LINE);
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
export function lineOf({ done, total, before, settled, failed, ms, waitMs }: Moment): string {
  const filled = Math.floor((BAR * settled) / total);
  const perSecond = ms > 0 ? ((settled - before) * 1_000) / ms : 0;
  const parts = [
    `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${settled} of ${total} ${done}`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(perSecond > 0 ? [`${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`] : []),
    ...(perSecond > 0 && settled < total ? [`${typedDuration(Math.ceil((total - settled) / perSecond))} left`] : []),
    ...(waitMs > 0 ? [`the service asks to wait ${count(Math.ceil(waitMs / 1_000), 'second')}`] : []),
  ];
  return parts.join(' · ');
}
