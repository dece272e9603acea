import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { talk } from './terminal.ts';
import { count } from './words.ts';

const CLEAR_LINE = '\r\u001b[K';

/** Draws a line on stderr, and anew after each interval; returns what ends that and clears the line. */
export function keepDrawing(text: () => string, everyMs: number, { stderr }: Io): () => Promise<void> {
  let drawn = '';
  const draw = (): void => {
    const line = text().slice(0, stderr.columns - 1);
    if (line !== drawn) void stderr.write(`${CLEAR_LINE}${line}`);
    drawn = line;
  };
  draw();
  const end = every(everyMs, draw);
  return async () => {
    end();
    await stderr.write(CLEAR_LINE);
  };
}

/** Works after each interval, as long as the process has something else to do; returns what ends that. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  timer.unref();
  return () => clearInterval(timer);
}

/** Shows on stderr how far a work of several parts has come. */
export interface Progress {
  show(part: string, done: number, total: number): void;
  end(): Promise<void>;
}

const BAR = 24;
const PART_WIDTH = 14;

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
