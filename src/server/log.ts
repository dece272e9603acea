import { type Logger, pino } from 'pino';

export type LogFormat = 'pretty' | 'json' | 'none';

/** Where log lines go, one or more at a time, each with its end. */
export interface LogSink {
  write(lines: string): void;
}

/** Hands on the lines of one turn of the event loop together: a write for each would cost more than a request. */
export function gatherLines(sink: LogSink): LogSink {
  let lines = '';
  const flush = () => {
    const text = lines;
    lines = '';
    sink.write(text);
  };
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}

/** Makes the log. It is told method, route, status and ids: never a query, a body, a token or a key. */
export async function createLog(format: LogFormat, sink: LogSink): Promise<Logger> {
  if (format === 'none') return pino({ enabled: false });
  if (format === 'json') return pino({ base: null }, sink);
  const { prettyFactory } = await import('pino-pretty');
  const prettify = prettyFactory({
    ignore: 'pid,hostname,method,route,status,ms,requestId,account,token,reason',
    messageFormat: '{msg} {method} {route} {status} {ms}ms {reason}',
    colorize: false,
  });
  return pino({ base: null }, { write: (line: string) => sink.write(prettify(line)) });
}
