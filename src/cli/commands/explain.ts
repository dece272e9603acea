import { reasonsOf } from '../../contract/endpoint.ts';
import { type ApiErrorDetail, apiError, apiErrors, type Reason } from '../../contract/errors.ts';
import { listEndpoints } from '../../contract/index.ts';
import { argument, command } from '../command.ts';
import { hintsByReason } from '../failure/advice.ts';
import { exitCodes, type Hint, UsageError } from '../failure/errors.ts';
import { exitOf } from '../failure/report.ts';
import { type HelpView, heading, prose, rows } from '../help/section.ts';
import { meanings } from '../help/topics.ts';
import type { CommandResult } from '../output/result.ts';

export const explain = command({
  about:
    'Explains an error: one of the service, by its status and code as 409/2 or by its name, or an exit code or error of ' +
    'lkm itself. Says what it means, what may return it, and what to do.',
  arguments: { code: argument('<CODE>', 'such as 409/2, email_taken or 7') },
  fields: ['error', 'status', 'code', 'message', 'exitCode', 'operations'],
  examples: [
    ['lkm explain 409/2', 'an error of the service'],
    ['lkm explain email_taken', 'the same by its name'],
    ['lkm explain 8', 'an exit code'],
  ],

  async run({ code }) {
    const errors = findErrors(code).map(describeError);
    if (errors.length > 0) return explained(errors, errors, (view) => errorPages(errors, view));
    const exit = findExitCode(code);
    if (exit === undefined) throw unknown(code);
    const caused = errorNames.map(describeError).filter(({ exitCode }) => exitCode === exit.exitCode);
    return explained({ ...exit, errors: caused }, caused, (view) => exitPage(exit, caused, view));
  },
});

const explained = (
  data: unknown,
  errors: readonly DescribedError[],
  page: (view: HelpView) => string,
): CommandResult => ({
  kind: 'text',
  draw: ({ columns, paint }) => page({ columns: Math.min(columns, 100), paint }),
  rows: errors.map((one) => ({ ...one })),
  data,
  quiet: errors.map(({ error }) => error),
});

const errorNames = Object.keys(apiErrors) as Reason[];

/** The errors that a status, one with a code, or a name stands for: `409`, `http_409`, `409/2`, `email_taken`. */
function findErrors(text: string): Reason[] {
  const [, status, code] = /^(?:http_)?(\d{3})(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const isMeant = (reason: Reason): boolean =>
    status === undefined
      ? isName(reason, text)
      : apiErrors[reason].status === Number(status) && (code === undefined || apiErrors[reason].code === Number(code));
  return errorNames.filter(isMeant);
}

/** Whether a text is this name, in any case, with or without underscores. */
const isName = (name: string, text: string): boolean => name.toLowerCase() === text.toLowerCase().replaceAll('_', '');

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** An error of the service, explained. */
interface DescribedError {
  readonly error: string;
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly exitCode: number;
  /** Methods and paths; empty for one that any request may get. */
  readonly operations: readonly string[];
  readonly hints: readonly Hint[];
}

/** Stand in for what a message says of one request. */
const anything: ApiErrorDetail = {
  customerId: 'ID',
  email: 'ADDRESS',
  reference: 'REFERENCE',
  updatedAt: 'INSTANT',
  inUse: '2 devices',
  why: 'its address is not public',
};

function describeError(reason: Reason): DescribedError {
  const { status, code } = apiErrors[reason];
  const endpoints = listEndpoints().map(({ endpoint }) => endpoint);
  const returning = endpoints.filter((endpoint) => reasonsOf(endpoint).includes(reason));
  return {
    error: snake(reason),
    status,
    code,
    message: apiError(reason, anything).message,
    exitCode: exitOf({ status, code }),
    operations: returning.length > endpoints.length / 2 ? [] : returning.map(({ method, path }) => `${method} ${path}`),
    hints: hintsByReason[reason] ?? [],
  };
}

function errorPages(errors: readonly DescribedError[], view: HelpView): string {
  return errors
    .map((error) => {
      const { operations, hints } = error;
      const facts: [string, string][] = [
        ['answer', `${error.status}, code ${error.code}: "${error.message}"`],
        ['exit code', `${error.exitCode}: ${meaningOf(error.exitCode)}`],
        ['from', operations.length > 0 ? operations.join(', ') : 'any request, whatever it asks for'],
      ];
      const width = Math.max(0, ...hints.map((hint) => (typeof hint === 'string' ? 0 : hint[0].length)));
      const advice = hints.map((hint) => (typeof hint === 'string' ? hint : `  ${hint[0].padEnd(width)}  ${hint[1]}`));
      return [heading(error.error, view), rows(facts, view), ...advice.map((line) => prose(line, view))].join('');
    })
    .join('\n');
}

/** An exit code of lkm. */
interface DescribedExit {
  readonly exitCode: number;
  readonly meaning: string;
}

/** Names of errors of lkm itself that are not those of their exit code. */
const ownNames: Readonly<Record<string, keyof typeof exitCodes>> = {
  noToken: 'unauthenticated',
  badResponse: 'serverError',
};

function findExitCode(text: string): DescribedExit | undefined {
  const own = Object.entries(ownNames).find(([name]) => isName(name, text))?.[1];
  const [, exitCode] =
    Object.entries(exitCodes).find(([name, code]) => String(code) === text || isName(name, own ?? text)) ?? [];
  return exitCode === undefined ? undefined : { exitCode, meaning: meaningOf(exitCode) };
}

function meaningOf(exitCode: number): string {
  const names = Object.keys(meanings) as (keyof typeof meanings)[];
  const name = names.find((one) => exitCodes[one] === exitCode);
  return name === undefined ? '' : meanings[name];
}

function exitPage({ exitCode, meaning }: DescribedExit, errors: readonly DescribedError[], view: HelpView): string {
  const causes = errors.map(({ error, status, code, message }): [string, string] => [
    `${status}/${code} ${error}`,
    message,
  ]);
  const title = heading(`exit code ${exitCode}`, view);
  return [title, prose(meaning, view), ...(causes.length > 0 ? [`\n${rows(causes, view)}`] : [])].join('');
}

const unknown = (code: string): UsageError =>
  new UsageError(`there is no error '${code}'`, [
    ['Exit codes:', 'lkm help exit-codes'],
    `Errors: ${errorNames.map(snake).join(', ')}`,
  ]);
