import { exitCodes } from '../failure/errors.ts';
import { environment } from './environment.ts';
import { type HelpView, plainHelp, type Row, type Section, sectionText } from './section.ts';
import { texts } from './texts.ts';

export const meanings = {
  ok: 'it worked; also an empty list, or a reader that closed the pipe',
  internal: 'a bug in lkm; or keys why, keys compare or audit verify found a problem',
  usage: 'the command line, the environment or the request is wrong',
  notConfirmed: 'a confirmation is missing; nothing was sent',
  unauthenticated: 'no token, or the service refused it',
  forbidden: 'the service forbids it; or a licence file, a token or a ping was not accepted',
  notFound: 'there is no such key, customer, product or token',
  conflict: 'it conflicts with what exists, such as an e-mail address',
  outcomeUnknown: 'it may have happened: run it again with the same idempotency key',
  rateLimited: 'too many requests, and the wait is longer than --max-wait',
  serverError: 'the service failed, and changed nothing; or no lkm is at this address',
  network: 'the service was not reached; nothing was sent',
  partial: 'some of several changes failed; stderr says which',
  local: 'something on this machine: a file exists, a port is taken',
  interrupted: 'Ctrl-C',
  terminated: 'told to end (SIGTERM)',
} as const satisfies Record<keyof typeof exitCodes, string>;

const exitCodeSections: readonly Section[] = [
  [
    '',
    Object.entries(meanings).map(
      ([name, meaning]): Row => [String(exitCodes[name as keyof typeof exitCodes]).padStart(3), meaning],
    ),
  ],
  [
    'With --json',
    'An error is one object on stderr, and stdout is empty:',
    '  {"error":{"code","message","exitCode","status","apiCode","operation",\n' +
      '            "retryable","idempotencyKey","hint"}}',
  ],
];

/** Renders a help topic; by default for a pipe. */
export type Topic = (view?: HelpView) => string;

const topicOf =
  (sections: readonly Section[]): Topic =>
  (view = plainHelp) =>
    sections.map((one) => sectionText(one, view)).join('\n');

const all = { environment, 'exit-codes': exitCodeSections, ...texts };

export const topics = Object.fromEntries(
  Object.entries(all).map(([name, sections]) => [name, topicOf(sections)]),
) as Readonly<Record<keyof typeof all, Topic>>;
