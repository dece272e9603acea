import { exitCodes } from '../failure/exit-codes.ts';
import { type HelpView, plainHelp, prose, rows } from './section.ts';

const meanings: Record<keyof typeof exitCodes, string> = {
  ok: 'it worked; also an empty list, or a reader that closed the pipe',
  internal: 'a bug in lkm',
  usage: 'the command line, the environment or the request is wrong',
  notConfirmed: 'a confirmation is missing; nothing was sent',
  unauthenticated: 'no token, or the service refused it',
  forbidden: 'the service forbids it; a licence file that is not ok',
  notFound: 'there is no such key, customer, product or token',
  conflict: 'it conflicts with what exists, such as an e-mail address',
  outcomeUnknown: 'it may have happened: run it again with the same idempotency key',
  rateLimited: 'too many requests, and the wait is longer than --max-wait',
  serverError: 'the service failed, nothing was done; or the address is not that of lkm',
  network: 'the service was not reached; nothing was sent',
  partial: 'of several changes some failed: stderr says which',
  local: 'something on this machine: a file exists, a port is taken',
  interrupted: 'Ctrl-C',
  terminated: 'told to end (SIGTERM)',
};

export function exitCodesTopic(view: HelpView = plainHelp): string {
  const names = Object.keys(exitCodes) as (keyof typeof exitCodes)[];
  return [
    rows(
      names.map((name) => [String(exitCodes[name]).padStart(3), meanings[name]]),
      view,
    ),
    prose(
      [
        'With --json an error is one object on stderr, and stdout is empty:',
        '  {"error":{"code","message","exitCode","status","apiCode","operation",\n' +
          '            "retryable","idempotencyKey","hint"}}',
      ],
      view,
    ),
  ].join('\n');
}
