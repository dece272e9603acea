import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { every, keepDrawing } from '../output/progress.ts';
import { talk } from '../output/terminal.ts';
import { count, typedDuration } from '../output/words.ts';
import type { Counts, Settled } from '../state/rows.ts';

const BAR = 20;
const FRAME_MS = 100;
const LINE_EVERY_MS = 10_000;

/**
 * Shows on a terminal how far a run has come, how fast it goes and how long it will take: a line that is drawn anew; where
 * nothing may move, a line every ten seconds.
 */
export function showBulkProgress(
  done: string,
  total: number,
  before: Pick<Counts, 'open' | 'failed' | 'unknown'>,
  settings: Settings,
  io: Io,
) {
  if (!io.stderr.isTTY) return { answered: () => {}, waiting: () => {}, end: async () => {} };
  const startedAt = io.now();
  const settledBefore = total - before.open;
  let settled = settledBefore;
  let failed = before.failed + before.unknown;
  let waitsUntil = 0;
  const moment = (): Moment => ({
    ...{ done, total, settled, failed },
    settledNow: settled - settledBefore,
    ms: io.now() - startedAt,
    waitMs: waitsUntil - io.now(),
  });
  const end = settings.draws
    ? keepDrawing(() => lineOf(moment()), FRAME_MS, io)
    : every(LINE_EVERY_MS, () => void talk([{ tone: 'hint', text: textOf(moment()) }], settings, io));
  return {
    answered: ({ kind }: Pick<Settled, 'kind'>): void => {
      settled += 1;
      if (kind !== 'done') failed += 1;
    },
    /** The service has asked to wait. */
    waiting: (ms: number): void => {
      waitsUntil = Math.max(waitsUntil, io.now() + ms);
    },
    end: async (): Promise<void> => end(),
  };
}

interface Moment {
  /** `created` */
  readonly done: string;
  readonly total: number;
  readonly settled: number;
  readonly failed: number;
  /** Rows that this command has settled, in so many milliseconds. */
  readonly settledNow: number;
  readonly ms: number;
  readonly waitMs: number;
}

/** `████░░░░ 312 of 500 created · 4 failed · 120/s · 2s left`. */
export function lineOf(moment: Moment): string {
  const filled = Math.floor((BAR * moment.settled) / moment.total);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${textOf(moment)}`;
}

/** The same without the bar. */
function textOf({ done, total, settled, failed, settledNow, ms, waitMs }: Moment): string {
  const perSecond = ms > 0 ? (settledNow * 1_000) / ms : 0;
  const parts = [
    `${settled} of ${total} ${done}`,
    failed > 0 && `${failed} failed`,
    perSecond > 0 && `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`,
    perSecond > 0 && settled < total && `${typedDuration(Math.ceil((total - settled) / perSecond))} left`,
    waitMs > 0 && `the service asks to wait ${count(Math.ceil(waitMs / 1_000), 'second')}`,
  ];
  return parts.filter(Boolean).join(' · ');
}
