import type { AttemptEvent, ClientOptions, DeprecationNotice } from '../../client/index.ts';
import type { Settings } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { talk } from '../output/talk.ts';

/** What is said on stderr while requests are made: a line each with `-v`, and what the service is retiring. */
export function observe(settings: Settings, io: Io): Pick<ClientOptions, 'onAttempt' | 'onNotice'> {
  const isTraced = settings.verbose || settings.debug;
  return {
    onAttempt: (event) => void (isTraced && io.stderr.write(`${describeAttempt(event)}\n`)),
    onNotice: (notice) => void talk([{ tone: 'warning', text: describeNotice(notice) }], settings, io),
  };
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
