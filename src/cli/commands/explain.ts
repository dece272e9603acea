import { reasonsOf } from '../../contract/endpoint.ts';
import { type ApiErrorDetail, apiError, apiErrors, type Reason } from '../../contract/errors.ts';
import { listEndpoints } from '../../contract/index.ts';
import { argument, command } from '../command.ts';
import { hintsByReason } from '../failure/advice.ts';
import { exitCodes, UsageError } from '../failure/errors.ts';
import { exitOf } from '../failure/report.ts';
import { type HelpView, heading, prose, type Row, rows } from '../help/section.ts';
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
    const errors = reasons.filter((reason) => isMeant(reason, code)).map(describeError);
    if (errors.length > 0) {
      return explained(errors, errors, (view) => errors.map((error) => errorPage(error, view)).join('\n'));
    }
    const exitCode = findExitCode(code);
    if (exitCode === undefined) {
      const known = `Errors: ${reasons.map(snake).join(', ')}`;
      throw new UsageError(`there is no error '${code}'`, [['Exit codes:', 'lkm help exit-codes'], known]);
    }
    const caused = reasons.map(describeError).filter((error) => error.exitCode === exitCode);
    const meaning = meaningOf(exitCode);
    return explained({ exitCode, meaning, errors: caused }, caused, (view) => {
      const causes = caused.map(({ error, status, code, message }): Row => [`${status}/${code} ${error}`, message]);
      const list = causes.length > 0 ? `\n${rows(causes, view)}` : '';
      return heading(`exit code ${exitCode}`, view) + prose(meaning, view) + list;
    });
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

const reasons = Object.keys(apiErrors) as Reason[];

/** Whether a text names an error: by status, status and code (`409`, `http_409`, `409/2`) or name. */
function isMeant(reason: Reason, text: string): boolean {
  const [, status, code] = /^(?:http_)?(\d{3})(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  if (status === undefined) return isName(reason, text);
  const error = apiErrors[reason];
  return error.status === Number(status) && (code === undefined || error.code === Number(code));
}

/** Ignores case and underscores. */
const isName = (name: string, text: string): boolean => name.toLowerCase() === text.toLowerCase().replaceAll('_', '');

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type DescribedError = ReturnType<typeof describeError>;

/** Placeholders for details in messages. */
const anything: ApiErrorDetail = {
  customerId: 'ID',
  email: 'ADDRESS',
  host: 'lkm.example',
  reference: 'REFERENCE',
  updatedAt: 'INSTANT',
  inUse: '2 devices',
  latest: 'INSTANT',
  last: 5670,
  why: 'its address is not public',
};

/** An error without `operations` may occur at any request. */
function describeError(reason: Reason) {
  const { status, code } = apiErrors[reason];
  const endpoints = listEndpoints().map(({ endpoint }) => endpoint);
  const returning = endpoints.filter((endpoint) => reasonsOf(endpoint).includes(reason));
  return {
    error: snake(reason),
    status,
    code,
    message: apiError(reason, anything).message,
    exitCode: exitOf({ status, code, reason }),
    operations: returning.length > endpoints.length / 2 ? [] : returning.map(({ method, path }) => `${method} ${path}`),
    hints: hintsByReason[reason] ?? [],
  };
}

function errorPage({ error, status, code, message, exitCode, operations, hints }: DescribedError, view: HelpView) {
  const facts: Row[] = [
    ['answer', `${status}, code ${code}: "${message}"`],
    ['exit code', `${exitCode}: ${meaningOf(exitCode)}`],
    ...(error === 'server_error'
      ? [['', `${exitCodes.outcomeUnknown} for a change: ${meanings.outcomeUnknown}`] as const]
      : []),
    ['from', operations.join(', ') || 'any request, whatever it asks for'],
  ];
  const sentences = hints.filter((hint) => typeof hint === 'string').map((hint) => `  ${hint}\n`);
  const commands = hints.filter((hint) => typeof hint !== 'string');
  return [heading(error, view), rows(facts, view), ...sentences, rows(commands, view)].join('');
}

/** Exit codes by name, including codes of other errors of lkm. */
const namedCodes = { ...exitCodes, noToken: exitCodes.unauthenticated, badResponse: exitCodes.serverError };

const findExitCode = (text: string): number | undefined =>
  Object.entries(namedCodes).find(([name, code]) => String(code) === text || isName(name, text))?.[1];

const meaningOf = (exitCode: number): string =>
  Object.entries(meanings).find(([name]) => exitCodes[name as keyof typeof meanings] === exitCode)?.[1] ?? '';
