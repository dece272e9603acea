import { runInNewContext } from 'node:vm';
import { codeOf, LocalError, UsageError } from '../failure/errors.ts';
import { withoutSecretTexts } from '../request/redact.ts';
import type { CommandResult } from './result.ts';
import { sanitiseJson } from './terminal.ts';

export type JsonFilter = Awaited<ReturnType<typeof openFilter>>;

/** An expression that takes longer has no end: a hundred thousand keys take a second. */
const TIMEOUT_MS = 60_000;

/** The filter of `--jq`. Throws `UsageError` for an expression that jq does not take. */
export async function openFilter(expression: string) {
  const { loadJq } = await import('jq-wasm/inline');
  const jq = await loadJq();
  // It works in this thread, where only a script can be stopped. Each value that it gives is a line.
  const work = (json: string) => jq.raw(json, expression, ['-c', '--']);
  function run(json: string): ReturnType<typeof work> {
    const { error } = console;
    // An abort is printed there before it is thrown.
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
    /** The error to end with, once a result is written that could not be filtered. */
    get failure() {
      return failure;
    },
    /**
     * The values that the expression gives, a line each: texts as they are, all else as JSON. Where it fails on what a
     * change has made, or what holds a key or token, that is returned as it is, and there is a `failure`. Throws
     * `LocalError` where it fails on anything else.
     */
    apply: (json: string, { idempotencyKey, secret }: CommandResult): string => {
      try {
        return filter(json);
      } catch (cause) {
        const isOnlyCopy = idempotencyKey !== undefined || secret === true;
        const hints = isOnlyCopy ? ['The result was written as it is.'] : [];
        // What breaks jq itself is the expression; nothing was done by a command that only reads.
        if (cause instanceof UsageError && !isOnlyCopy) throw cause;
        // Without its cause, which repeats data.
        failure = new LocalError(withoutData(cause as Error, expression), hints, { idempotencyKey });
        if (!isOnlyCopy) throw failure;
        return json;
      }
    },
  };
}

/** What jq says of an expression, without its names for what it reads. */
function messageOf(stderr: string): string {
  const [line = ''] = stderr.split('\n');
  return `--jq: ${line.replace(/^jq: error(?: \(at \S+\))?:? /, '').replaceAll(/<top-level>, |:$/g, '')}`;
}

/** The same of an expression that failed on data, which is left out: it may be a key, or a part of one. */
function withoutData(error: Error, expression: string): string {
  if (error instanceof UsageError) return error.message;
  const shown = messageOf(error.message).replace(/["'{[].*["'}\]]/, (data) =>
    expression.includes(data.slice(1, -1)) ? data : '…',
  );
  return withoutSecretTexts(shown);
}
