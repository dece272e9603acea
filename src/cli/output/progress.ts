import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { talk } from './talk.ts';
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
  const isDrawn = drawsOn(settings, io);
  return {
    show: (part, done, total) => {
      if (isDrawn) void io.stderr.write(`\r${drawBar(part, done, total)}\u001b[K`);
      else if (done >= total) void talk([{ tone: 'hint', text: `${part}: ${count(done, 'row')}` }], settings, io);
    },
    end: async () => {
      if (isDrawn) await io.stderr.write(CLEAR_LINE);
    },
  };
}

/** What a request waits for before it is sent again. */
export interface Wait {
  /** Such as `the rate limit (429)`. */
  readonly reason: string;
  readonly ms: number;
}

/** Says on a terminal what is waited for and how long; `end` clears the line. */
export interface WaitLine {
  show(wait: Wait): void;
  end(): void;
}

const TICK_MS = 1_000;
/** Shorter waits are not worth a line. */
const SHORTEST_SHOWN_MS = 500;

/** A line on stderr that counts down; nothing where stderr is not a terminal, with `-q`, or in a JSON format. */
export function showWait(settings: Settings, io: Io): WaitLine {
  if (!drawsOn(settings, io)) return { show: () => {}, end: () => {} };
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    void io.stderr.write(CLEAR_LINE);
  };
  io.stop.addEventListener('abort', end, { once: true });
  return {
    end,
    show: ({ reason, ms }) => {
      end();
      if (ms < SHORTEST_SHOWN_MS) return;
      let left = Math.ceil(ms / TICK_MS);
      const draw = (): void => {
        if (left < 1) return;
        const text = `waiting for ${reason}; next attempt in ${left} s`;
        void io.stderr.write(`${CLEAR_LINE}${text.slice(0, io.stderr.columns - 1)}`);
        left -= 1;
      };
      draw();
      timer = setInterval(draw, TICK_MS);
      timer.unref();
    },
  };
}

const drawsOn = ({ quiet, format }: Settings, { stderr }: Io): boolean =>
  stderr.isTTY && !quiet && !format.startsWith('json');

function drawBar(part: string, done: number, total: number): string {
  const filled = Math.floor((BAR * Math.min(done, total)) / Math.max(total, 1));
  return `${part.padEnd(PART_WIDTH)} ${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${done} of ${total}`;
}
