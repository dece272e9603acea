import { ApiError } from '../../contract/errors.ts';
import type { Scope } from '../../contract/scopes.ts';
import type { Token } from '../../contract/tokens.ts';
import { parametersOf } from '../command.ts';
import { withoutPasswords } from '../config/location.ts';
import type { OpenedContext } from '../context.ts';
import type { Io } from '../io.ts';
import { asTyped, createPaint, type Paint, type ServiceOptions, sanitise, sanitiseJson } from '../output/terminal.ts';
import { foldLine, keyEnd, wrap } from '../output/words.ts';
import { rerunLine } from '../request/rerun.ts';
import type { RunState } from '../run-state.ts';
import { withValues } from './advice.ts';
import { exitCodes, type Hint, hintText, InterruptedError } from './errors.ts';
import type { Report } from './report.ts';
import type { Situation } from './situation.ts';

/** Prints an error and resolves to the exit code. */
export async function fail(error: unknown, state: RunState): Promise<number> {
  const { argv, io, settings } = state;
  const report = await reportOn(error, state);
  const { maskSecrets } = await import('../../domain/token.ts');
  const isJson = settings ? settings.format === 'json' || settings.format === 'jsonl' : wantsJson(argv, io);
  const paint = createPaint(settings?.color.stderr ?? false);
  // The message repeats typed words, and some people type a secret in place of a name or a file.
  await io.stderr.write(maskSecrets(isJson ? jsonOf(report) : textOf(report, paint, io)));
  if (settings?.debug && error instanceof Error) {
    const trace = withoutPasswords(traceOf(error));
    const lines = (io.stderr.isTTY ? trace : withoutKeys(trace)).split('\n');
    await io.stderr.write(maskSecrets(`${lines.map(sanitise).join('\n')}\n`));
  }
  return report.exitCode;
}

/** The report as it is printed: with the typed values in its command lines, without secrets. */
async function reportOn(error: unknown, state: RunState): Promise<Report> {
  const { io, settings, context } = state;
  const { toReport } = await import('./report.ts');
  const situation = await situationOf(error, state);
  const report = toReport(interruption(state) ?? failureOf(error, context) ?? error, situation);
  const cause = report.exitCode === exitCodes.outcomeUnknown ? context?.connection?.failure?.() : null;
  const typed = typedValues(state);
  const hints = report.hints.map(
    (hint): Hint => (typeof hint === 'string' ? hint : [hint[0], withValues(hint[1], typed)]),
  );
  if (cause) hints.unshift(`The database failed: ${cause.message}.`);
  if (report.request !== null) hints.unshift(report.request);
  return { ...report, ...asShown({ ...report, hints }, io, settings?.serviceOptions) };
}

async function situationOf(error: unknown, state: RunState): Promise<Situation> {
  const connection = state.context?.connection;
  const isScopeMissing = error instanceof ApiError && error.reason === 'scopeMissing';
  return {
    baseUrl: connection?.baseUrl ?? null,
    tokenFrom: connection?.token?.from ?? null,
    servedDb: connection?.servedDb,
    ...(isScopeMissing && { scopes: await scopesOf(state), token: await tokenOf(state) }),
    now: state.io.now(),
    rerun: (value, option) => rerunLine(state, value, option),
  };
}

/**
 * The typed values by the fields of the contract. Keys and e-mail addresses only on a terminal: stderr may be the log of a
 * job.
 */
function typedValues({ parsed, io }: RunState): ReadonlyMap<string, string> {
  if (parsed === undefined) return new Map();
  const { command, written } = parsed;
  const texts = { ...written.arguments, ...written.options };
  const specs = Object.entries(parametersOf(command));
  return new Map(
    specs.flatMap(([name, spec]): [string, string][] => {
      const text = [texts[name]].flat()[0];
      const isPrivate = spec.secret || /email$/i.test(spec.field ?? name);
      const isShown = !isPrivate || (io.stderr.isTTY && !/^[-@]/.test(String(text)));
      return typeof text === 'string' && isShown ? [[spec.field ?? name, text]] : [];
    }),
  );
}

async function scopesOf({ parsed }: RunState): Promise<readonly Scope[]> {
  const { neededScopes } = await import('../request/needed-scopes.ts');
  return parsed === undefined ? [] : neededScopes(parsed.command).map(({ scope }) => scope);
}

/** The token as the service describes it; null if the request fails. */
const tokenOf = async ({ context }: RunState): Promise<Token | null> =>
  context === undefined ? null : (await context.client()).tokens.self().catch(() => null);

/** The error of the database in this process that prevented a change; null for other errors. */
const failureOf = (error: unknown, context: OpenedContext | undefined): Error | null =>
  error instanceof ApiError && error.reason === 'unavailable' ? (context?.connection?.failure?.() ?? null) : null;

function textOf({ message, hints }: Report, paint: Paint, { stderr }: Io): string {
  const wrapped = (text: string, indent: string): string =>
    (stderr.isTTY ? wrap(text, stderr.columns - indent.length) : [text]).join(`\n${indent}`);
  const width = Math.max(0, ...hints.map((hint) => (typeof hint === 'string' ? 0 : hint[0].length)));
  const lines = hints.map((hint) => {
    if (typeof hint === 'string') return `  ${wrapped(sanitise(hint), '  ')}\n`;
    const [label, command] = hint;
    const line = `  ${label.padEnd(width)}  ${sanitise(command)}`;
    const folded = stderr.isTTY ? foldLine(line, stderr.columns) : [line];
    return folded.map((part) => `${label ? part.replace(label, () => paint.dim(label)) : part}\n`).join('');
  });
  return `${paint.red('error:')} ${wrapped(sanitise(message), '       ')}\n${lines.join('')}`;
}

function jsonOf({ request: _, hints, ...error }: Report): string {
  const hint = hints.map(hintText).join('\n') || null;
  return `${sanitiseJson(JSON.stringify({ error: { ...error, hint } }))}\n`;
}

/**
 * A licence key that was typed in place of another value, so that a message repeats it. The log of a job must not show keys.
 */
const WHOLE_KEY = /(?<![\w-])[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}(?![\w-])/gi;

/**
 * The unknown name in a message. Somebody may have typed a key of another system in place of a name; such keys have any
 * form.
 */
const UNKNOWN_NAME = /(?<=\b(?:is called|there is no \w+) ').*(?=')/g;

/** Whether a text may be a key of any format: a word or sections, with a digit or in capitals. */
function mayBeKey(text: string): boolean {
  const isWordOrSections = /^(\S{6,}|\S{4,8}( \S{4,8}){2,})$/.test(text);
  const hasDigits = /\d/.test(text);
  const isCapitals = /^[A-Z]+(-[A-Z]+)+$/.test(text);
  // The end of a key, a token, a secret of webhooks, an error code, an id.
  const isOther = /^(…|lkm_|whsec_|\d{3}\/|[a-z]{2,4}_[0-9a-z]{26}$)/i.test(text);
  return isWordOrSections && (hasDigits || isCapitals) && !isOther;
}

/** A text without keys, for the log of a job. */
const withoutKeys = (text: string): string =>
  text
    .replaceAll(WHOLE_KEY, keyEnd)
    .replaceAll(UNKNOWN_NAME, (name) => (mayBeKey(name) ? `…${name.slice(8).slice(-4)}` : name));

/** In characters. A message repeats words of any length. */
const MAX_MESSAGE_LENGTH = 500;

/** Message and hints with command lines as they are typed here, without passwords of databases. */
function asShown(
  { message, hints }: Report,
  { env, stderr }: Io,
  options?: ServiceOptions,
): Pick<Report, 'message' | 'hints'> {
  const shown = (text: string): string => withoutPasswords(asTyped(text, env, options));
  const logged = (text: string): string => (stderr.isTTY ? shown(text) : withoutKeys(shown(text)));
  const whole = logged(message);
  return {
    message: whole.length > MAX_MESSAGE_LENGTH ? `${whole.slice(0, MAX_MESSAGE_LENGTH)}…` : whole,
    hints: hints.map((hint) => (typeof hint === 'string' ? logged(hint) : [hint[0], shown(hint[1])])),
  };
}

/** The error for a stopped process, with the idempotency key of the change that was being sent. */
function interruption(state: RunState): InterruptedError | null {
  const { stop } = state.io;
  if (!stop.aborted) return null;
  const key = state.context?.pendingKey;
  const hint = 'The change may have been made. Run the same command again with the same key:';
  return new InterruptedError(stop.reason, key ? [hint, ['', rerunLine(state, key)]] : []);
}

/** Decides about JSON when the options could not be read. */
const wantsJson = (argv: readonly string[], { env }: Io): boolean =>
  argv.some((word) => /^(--json|--format=jsonl?|jsonl?|--jq(=.*)?)$/s.test(word)) ||
  /^jsonl?$/.test(env.LKM_FORMAT ?? '');

function traceOf(error: Error): string {
  const causes: Error[] = [];
  for (let one: unknown = error; one instanceof Error && causes.length < 8; one = one.cause) causes.push(one);
  return causes.map(stackOf).join('\ncaused by: ');
}

/** Without the message of a refusal, which may name a person. */
function stackOf(error: Error): string {
  const { stack = error.message, message } = error;
  return error instanceof ApiError ? stack.replace(message, () => `${error.status}/${error.code}`) : stack;
}
