import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { talk } from './talk.ts';
import { padTo } from './width.ts';
import { count } from './words.ts';

/** Shows on stderr how far a work of several parts has come. */
export interface Progress {
  show(part: string, done: number, total: number): void;
  end(): Promise<void>;
}

const BAR = 24;
const PART_WIDTH = 14;

/** A bar on a terminal, which is gone in the end; elsewhere a line per part. Nothing with `-q` or in a JSON format. */
export function showProgress(settings: Settings, io: Io): Progress {
  const isDrawn = io.stderr.isTTY && !settings.quiet && !settings.format.startsWith('json');
  return {
    show: (part, done, total) => {
      if (isDrawn) void io.stderr.write(`\r${drawBar(part, done, total)}\u001b[K`);
      else if (done >= total) void talk([{ tone: 'hint', text: `${part}: ${count(done, 'row')}` }], settings, io);
    },
    end: async () => {
      if (isDrawn) await io.stderr.write('\r\u001b[K');
    },
  };
}

function drawBar(part: string, done: number, total: number): string {
  const filled = Math.floor((BAR * Math.min(done, total)) / Math.max(total, 1));
  return `${padTo(part, PART_WIDTH)} ${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${done} of ${total}`;
}
