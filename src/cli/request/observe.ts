import type { AttemptEvent, ClientOptions, Exchange } from '../../client/options.ts';
import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { describeAttempt, describeExchange, describeNotice, showSilence, showWait } from '../output/attempts.ts';
import { sanitise, talk } from '../output/terminal.ts';

/** What is told of requests. */
export type Told = Pick<ClientOptions, 'onSend' | 'onAttempt' | 'onExchange' | 'onNotice'>;

/** What the requests of a command have shown. */
interface Observation extends Told {
  /** Whether the last response was that of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** Clears what says that something is waited for. */
  end(): void;
}

/** Says on stderr a line for each request with `-v`, and all that was sent and received but secrets with `--debug`. */
export function traced(
  { verbose, debug }: Settings,
  { stderr }: Io,
): { onAttempt(event: AttemptEvent): void; onExchange(exchange: Exchange): void } {
  return {
    onAttempt: (event) => void ((verbose || debug) && stderr.write(`${sanitise(describeAttempt(event))}\n`)),
    onExchange: (exchange) => void (debug && stderr.write(describeExchange(exchange))),
  };
}

/**
 * Says on stderr while requests are made what is waited for, a line for each request with `-v`, all that was sent and
 * received but secrets with `--debug`, and what the service is retiring.
 */
export function observe(settings: Settings, io: Io): Observation {
  const trace = traced(settings, io);
  let endWait: (() => void) | undefined;
  let replayed = false;
  const end = (): void => {
    endWait?.();
    endWait = undefined;
  };
  return {
    ...trace,
    get replayed() {
      return replayed;
    },
    end,
    onSend: () => {
      end();
      endWait = showSilence(settings, io);
    },
    onAttempt: (event) => {
      end();
      replayed = event.replayed;
      trace.onAttempt(event);
      if (event.willRetryInMs !== null) endWait = showWait(event, settings, io);
    },
    onNotice: (notice) => void talk([{ tone: 'warning', text: describeNotice(notice) }], settings, io),
  };
}
