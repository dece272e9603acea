import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
// A CommonJS package: Node.js finds only its default export.
import sonicBoom from 'sonic-boom';

export type LogFormat = 'pretty' | 'json' | 'none';

/** Takes log lines, each with its line feed. */
export interface LogSink {
  /** May throw or reject: a server goes on without the line. */
  write(line: string): unknown;
  /** Returns how many lines were lost since the last call; 0 while there is no room for a line that reports them. */
  takeLost?(): number;
  /** Resolves when all taken lines are written or lost. */
  flush?(): Promise<void>;
}

interface LogLine {
  (fields: Readonly<Record<string, unknown>>, message: string): void;
  (message: string): void;
}

/** Writes log lines with fields; an error is the field `err`. Not the type of pino: programs that embed the server do not have it. */
export interface Logger {
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
}

export interface ServerLog {
  readonly log: Logger;
  /** Resolves when all lines are written or lost, at the latest after a second. */
  flush(): Promise<void>;
}

const FLUSH_MS = 1_000;

/** Opens a log that never stops the server: lines that the sink refuses are counted, and the count is logged later. */
export async function openLog(format: LogFormat, sink: LogSink): Promise<ServerLog> {
  let failed = 0;
  /** If the line that reports lost lines is lost itself, all of them are counted again. */
  const write = (line: string, standsFor = 1) => {
    const fail = () => {
      failed += standsFor;
    };
    try {
      const written = sink.write(line);
      if (written instanceof Promise) written.catch(fail);
    } catch {
      fail();
    }
  };
  let lost = 0;
  const notices = await createLog(format, { write: (line) => write(line, lost) });
  const sayLost = () => {
    lost = failed + (sink.takeLost?.() ?? 0);
    failed = 0;
    if (lost > 0) notices.warn({ lost }, `${lost} log lines were lost`);
  };
  const log = await createLog(format, {
    write(line) {
      sayLost();
      write(line);
    },
  });
  const flush = async () => {
    await sink.flush?.();
    sayLost();
    await sink.flush?.();
  };
  return { log, flush: () => Promise.race([flush(), sleep(FLUSH_MS, undefined, { ref: false })]) };
}

/** Creates a logger. Only method, route, status and ids may be logged: never a query, a body, a token or a key. */
export async function createLog(format: LogFormat, sink: LogSink): Promise<Logger> {
  if (format === 'none') return asLogger(pino({ enabled: false }));
  const write = (line: string) => void sink.write(line);
  const options = { base: null, serializers: { err: pino.stdSerializers.errWithCause } };
  if (format === 'json') return asLogger(pino(options, { write }));
  // A CommonJS package: bundled, it has only a default export.
  const { default: pretty } = await import('pino-pretty');
  const prettify = pretty.prettyFactory({
    ignore: 'pid,hostname,method,route,status,ms,requestId,account,token,reason,lost,traceId,parentId',
    messageFormat: ({ msg, method, route, status, ms, reason }) =>
      [msg, method, route, status, ms === undefined ? ms : `${ms}ms`, reason]
        .filter((part) => part !== undefined)
        .join(' '),
    colorize: false,
  });
  return asLogger(pino(options, { write: (line: string) => write(prettify(line)) }));
}

/** How many bytes wait for a full disk or a slow reader; further lines are lost. */
const MAX_WAITING_BYTES = 65_536;

/** Lines are written together, after this many bytes or this time: a write for each line would cost more than a request. */
const WRITE_BYTES = 4_096;
const WRITE_MS = 10;

/** Writes to an open file, pipe or terminal without blocking, and retries failed writes. */
export function createLogSink(fd: number, maxWaitingBytes = MAX_WAITING_BYTES): LogSink {
  const sonic = new sonicBoom.SonicBoom({
    fd,
    minLength: WRITE_BYTES,
    maxLength: maxWaitingBytes,
    periodicFlush: WRITE_MS,
  });
  let lost = 0;
  let hasRoom = true;
  // Failed writes are repeated with the next line, and every WRITE_MS.
  sonic.on('error', () => {});
  sonic.on('drop', () => {
    lost += 1;
    hasRoom = false;
  });
  sonic.on('drain', () => {
    hasRoom = true;
  });
  return {
    write: (line) => sonic.write(line),
    takeLost() {
      const taken = hasRoom ? lost : 0;
      lost -= taken;
      return taken;
    },
    flush: () => new Promise((resolve) => sonic.flush(() => resolve())),
  };
}

/** Narrows the type: an async function cannot return the type of pino, which may have a `then`. */
const asLogger = (log: Logger): Logger => log;
