import { fstatSync, write, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { type Logger, pino } from 'pino';

export type LogFormat = 'pretty' | 'json' | 'none';

/** Takes log lines, one or more at a time, each with its end. */
export interface LogSink {
  /** May return a promise. May throw or reject: a server goes on without these lines. */
  write(lines: string): unknown;
}

/** The log of a server. */
export interface ServerLog {
  readonly log: Logger;
  /** Resolves when what was logged has been written or lost, but at the latest after a second. */
  flush(): Promise<void>;
}

const FLUSH_MS = 1_000;

/** Opens a log that never stops the server: what the sink does not take is counted, and the count is logged later. */
export async function openLog(format: LogFormat, sink: LogSink): Promise<ServerLog> {
  let notice = '';
  const notices = await createLog(format, {
    write: (line) => {
      notice = line;
    },
  });
  const lines = gatherLines(sink, (lost) => {
    notices.warn({ lost }, `${lost} log lines were lost`);
    return notice;
  });
  const log = await createLog(format, lines);
  return { log, flush: () => Promise.race([lines.flush(), sleep(FLUSH_MS, undefined, { ref: false })]) };
}

/** Creates a logger. Only method, route, status and ids may be logged: never a query, a body, a token or a key. */
export async function createLog(format: LogFormat, sink: LogSink): Promise<Logger> {
  if (format === 'none') return pino({ enabled: false });
  const write = (line: string) => void sink.write(line);
  if (format === 'json') return pino({ base: null }, { write });
  // A CommonJS package: bundled, it has no exports but the default one.
  const { default: pretty } = await import('pino-pretty');
  const prettify = pretty.prettyFactory({
    ignore: 'pid,hostname,method,route,status,ms,requestId,account,token,reason,lost,traceId,parentId',
    messageFormat: '{msg} {method} {route} {status} {ms}ms {reason}',
    colorize: false,
  });
  return pino({ base: null }, { write: (line: string) => write(prettify(line)) });
}

/** Between two writes that go through another thread: one for each turn of the event loop would cost too much. */
const PAUSE_MS = 20;

/** Characters that may wait for a sink that is slow. What comes on top of them is lost. */
const MAX_BACKLOG_LENGTH = 1_048_576;

/**
 * Writes the lines of one turn of the event loop together: a write for each would cost more than a request.
 *
 * @param describeLost makes the line that says how many were lost, written as soon as the sink works again
 */
export function gatherLines(
  sink: LogSink,
  describeLost: (count: number) => string = () => '',
): LogSink & { flush(): Promise<void> } {
  let waiting = '';
  let lost = 0;
  let isScheduled = false;
  let running: Promise<void> | null = null;

  function writeAll(): void {
    isScheduled = false;
    if (waiting === '' || running !== null) return;
    const lines = waiting;
    const reported = lost;
    waiting = '';
    const fail = () => {
      lost += countLines(lines);
    };
    const succeed = () => {
      lost -= reported;
    };
    try {
      const written = sink.write((reported > 0 ? describeLost(reported) : '') + lines);
      if (written instanceof Promise) {
        const pause = () => sleep(PAUSE_MS);
        running = written
          .then(succeed, fail)
          .then(pause)
          .then(() => {
            running = null;
            writeAll();
          });
      } else succeed();
    } catch {
      fail();
    }
  }

  return {
    write(line) {
      if (waiting.length + line.length > MAX_BACKLOG_LENGTH) {
        lost += countLines(line);
        return;
      }
      waiting += line;
      if (isScheduled || running !== null) return;
      isScheduled = true;
      setImmediate(writeAll);
    },
    async flush() {
      writeAll();
      while (running !== null) await running;
    },
  };
}

const countLines = (text: string): number => text.split('\n').length - 1;

/**
 * Writes to an open file, pipe or terminal. Throws or rejects when that fails, and tries again with the next lines.
 *
 * A pipe or terminal whose reader has stopped would block; these are written to by another thread.
 */
export function createLogSink(fd: number): LogSink {
  /** Whether only the beginning of the last line has been written. */
  let isTorn = false;
  const canBlock = mayBlock(fd);

  function* attempts(lines: string): Generator<Buffer, void, number> {
    let rest = Buffer.from(isTorn ? `\n${lines}` : lines);
    while (rest.length > 0) {
      const count = yield rest;
      isTorn = count < rest.length;
      rest = rest.subarray(count);
    }
  }

  function writeNow(lines: string): void {
    const parts = attempts(lines);
    for (let part = parts.next(); !part.done; ) part = parts.next(writeSync(fd, part.value));
  }

  async function writeLater(lines: string): Promise<void> {
    const parts = attempts(lines);
    for (let part = parts.next(); !part.done; ) part = parts.next(await writeSome(fd, part.value));
  }

  return { write: canBlock ? writeLater : writeNow };
}

function mayBlock(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return !stat.isFile() && (!stat.isCharacterDevice() || isatty(fd));
  } catch {
    // Not open: each write fails, and is counted.
    return false;
  }
}

/** How long and how often a full pipe is tried again, in milliseconds. */
const RETRY_MS = 20;
const MAX_RETRIES = 50;

async function writeSome(fd: number, bytes: Buffer): Promise<number> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await writeOnce(fd, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || retries === MAX_RETRIES) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function writeOnce(fd: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}
