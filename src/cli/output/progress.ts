import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { talk } from './terminal.ts';
import { count, typedDuration } from './words.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Draws a line on stderr and redraws it; the returned function stops that and clears the line. */
export function keepDrawing(text: () => string, everyMs: number, { stderr }: Io): () => Promise<void> {
  let drawn = '';
  const draw = (): void => {
    const line = text().slice(0, stderr.columns - 1);
    if (line !== drawn) void stderr.write(`${CLEAR_LINE}${line}`);
    drawn = line;
  };
  draw();
  const timer = setInterval(draw, everyMs).unref();
  return async () => {
    clearInterval(timer);
    await stderr.write(CLEAR_LINE);
  };
}

const BAR_WIDTH = 24;

function drawBar(done: number, total: number): string {
  const filled = Math.floor((BAR_WIDTH * Math.min(done, total)) / Math.max(total, 1));
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`;
}

/** A bar that is cleared at the end; where nothing may move, a line per part. */
export function showProgress(settings: Settings, io: Io) {
  return {
    show: (part: string, done: number, total: number): void => {
      const line = `${drawBar(done, total)} ${done} of ${total} ${part}`;
      if (settings.draws) void io.stderr.write(`${CLEAR_LINE}${line}`);
      else if (done >= total) void talk([{ tone: 'hint', text: `${part}: ${count(done, 'row')}` }], settings, io);
    },
    end: async () => void (settings.draws && (await io.stderr.write(CLEAR_LINE))),
  };
}

const FRAME_MS = 100;
const LINE_EVERY_MS = 10_000;

export type Bar = ReturnType<typeof showBar>;

/**
 * Shows progress, speed and remaining time: `████░░░░ 312 of 500 created · 4 failed · 120/s · 2s left`. `word` is
 * `created`. While the service asks to wait, the wait replaces speed and time. Where nothing may move, it prints a line
 * every ten seconds.
 */
export function showBar(word: string, total: number, settings: Settings, io: Io) {
  const startedAt = io.now();
  let settled = 0;
  let failed = 0;
  let waitsUntil = 0;

  function text(): string {
    const perSecond = (settled * 1_000) / Math.max(io.now() - startedAt, 1);
    const waitMs = waitsUntil - io.now();
    const isMoving = perSecond > 0 && waitMs <= 0;
    const parts = [
      `${settled} of ${total} ${word}`,
      failed > 0 && `${failed} failed`,
      isMoving && `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`,
      isMoving && settled < total && `${typedDuration(Math.ceil((total - settled) / perSecond))} left`,
      waitMs > 0 && `the service asks to wait ${count(Math.ceil(waitMs / 1_000), 'second')}`,
    ];
    return parts.filter(Boolean).join(' · ');
  }

  function begin(): () => Promise<void> {
    if (settings.draws) return keepDrawing(() => `${drawBar(settled, total)} ${text()}`, FRAME_MS, io);
    const say = () => void talk([{ tone: 'hint', text: text() }], settings, io);
    const timer = io.stderr.isTTY ? setInterval(say, LINE_EVERY_MS).unref() : undefined;
    return async () => clearInterval(timer);
  }

  return {
    add: (isDone: boolean): void => {
      settled += 1;
      if (!isDone) failed += 1;
    },
    waiting: (ms: number): void => {
      waitsUntil = Math.max(waitsUntil, io.now() + ms);
    },
    end: begin(),
  };
}
