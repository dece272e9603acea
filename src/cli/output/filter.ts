import { runInNewContext } from 'node:vm';
import { codeOf, LocalError, UsageError } from '../failure/errors.ts';
import { withoutSecretTexts } from '../request/without-secrets.ts';
import type { CommandResult } from './result.ts';
import { sanitiseJson } from './terminal.ts';

export type JsonFilter = Awaited<ReturnType<typeof openFilter>>;

/** A hundred thousand keys take a second; a longer expression does not end. */
const TIMEOUT_MS = 60_000;

/** The filter of `--jq`. Throws `UsageError` for an invalid expression. */
export async function openFilter(expression: string) {
  const { loadJq } = await import('jq-wasm/inline');
  const jq = await loadJq();
  // jq runs in this thread, where only a script can be stopped. Each resulting value is a line.
  const work = (json: string) => jq.raw(json, expression, ['-c', '--']);
  function run(json: string): ReturnType<typeof work> {
    const { error } = console;
    // jq prints an abort before it throws.
    console.error = () => {};
    try {
      return runInNewContext('work(json)', { work, json }, { timeout: TIMEOUT_MS, breakOnSigint: true });
    } catch (cause) {
      const wasStopped = /^ERR_SCRIPT_/.test(codeOf(cause));
      const why = wasStopped ? `it was stopped, after ${TIMEOUT_MS / 1_000} s at the latest` : 'jq ran out of memory';
      throw new UsageError(`--jq: ${why}`);
    } finally {
      console.error = error;
    }
  }
  const check = run('');
  if (check.exitCode !== 0) throw new UsageError(messageOf(check.stderr), ['Nothing was sent.']);
  let failure: LocalError | null = null;

  function filter(json: string): string {
    const { stdout, stderr, exitCode } = run(json);
    if (exitCode !== 0) throw new Error(stderr);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => `${line.startsWith('"') ? JSON.parse(line) : sanitiseJson(line)}\n`).join('');
  }

  return {
    /** The error after a result that could not be filtered. */
    get failure() {
      return failure;
    },
    /**
     * The resulting values, a line each: texts bare, other values as JSON. If the expression fails on the result of a
     * change, or on a key or token, that is returned unfiltered and `failure` is set. Throws `LocalError` if it fails on
     * anything else.
     */
    apply: (json: string, { idempotencyKey, secret }: CommandResult): string => {
      try {
        return filter(json);
      } catch (cause) {
        const isOnlyCopy = idempotencyKey !== undefined || secret === true;
        const hints = isOnlyCopy ? ['The result was written as it is.'] : [];
        // jq itself failed because of the expression, and a reading command did nothing.
        if (cause instanceof UsageError && !isOnlyCopy) throw cause;
        // Without the cause, which repeats data.
        failure = new LocalError(withoutData(cause as Error, expression), hints, { idempotencyKey });
        if (!isOnlyCopy) throw failure;
        return json;
      }
    },
  };
}

/** jq's message without its names for the input. */
function messageOf(stderr: string): string {
  const [line = ''] = stderr.split('\n');
  return `--jq: ${line.replace(/^jq: error(?: \(at \S+\))?:? /, '').replaceAll(/<top-level>, |:$/g, '')}`;
}

/** The message without data, which may be a key or a part of a key. */
function withoutData(error: Error, expression: string): string {
  if (error instanceof UsageError) return error.message;
  const shown = messageOf(error.message).replace(/["'{[].*["'}\]]/, (data) =>
    expression.includes(data.slice(1, -1)) ? data : '…',
  );
  return withoutSecretTexts(shown);
}
