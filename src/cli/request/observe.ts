import type { AttemptEvent, ClientOptions, DeprecationNotice } from '../../client/options.ts';
import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { showWait } from '../output/progress.ts';
import { talk } from '../output/talk.ts';
import { sanitise } from '../output/text.ts';

/** What the requests of a command have shown. */
export interface Observation extends Pick<ClientOptions, 'onAttempt' | 'onNotice'> {
  /** Whether the last response was that of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
  /** Clears what says that something is waited for. */
  end(): void;
}

/**
 * What is said on stderr while requests are made: what is waited for, a line for each request with `-v`, and what the
 * service is retiring.
 */
export function observe(settings: Settings, io: Io): Observation {
  const isTraced = settings.verbose || settings.debug;
  const wait = showWait(settings, io);
  let replayed = false;
  return {
    get replayed() {
      return replayed;
    },
    end: wait.end,
    onAttempt: (event) => {
      wait.end();
      replayed = event.replayed;
      if (isTraced) void io.stderr.write(`${sanitise(describeAttempt(event))}\n`);
      if (event.willRetryInMs !== null) wait.show({ reason: waitReason(event), ms: event.willRetryInMs });
    },
    onNotice: (notice) => void talk([{ tone: 'warning', text: describeNotice(notice) }], settings, io),
  };
}

function waitReason({ status }: AttemptEvent): string {
  switch (status) {
    case null:
      return 'the service, which does not answer';
    case 409:
      return 'the first request with this idempotency key';
    case 429:
      return 'the rate limit (429)';
    default:
      return `the service, which answered ${status}`;
  }
}

function describeAttempt(event: AttemptEvent): string {
  const { operation, attempt, status, durationMs, idempotencyKey, willRetryInMs } = event;
  return [
    `${operation}  ${status ?? 'no answer'}  ${Math.round(durationMs)} ms  attempt ${attempt}`,
    ...(idempotencyKey === null ? [] : [`key ${idempotencyKey}`]),
    ...(willRetryInMs === null ? [] : [`again in ${Math.round(willRetryInMs)} ms`]),
  ].join('  ');
}

function describeNotice({ operation, sunset }: DeprecationNotice): string {
  const until = sunset === null ? '' : ` and ends on ${sunset}`;
  return `${operation} is being retired${until}; update lkm`;
}
