import { appendFileSync } from 'node:fs';
import { isMaskedKey } from '../../domain/license-key.ts';
import { option } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { unwritable } from './standard-output.ts';

export const githubOutput = option(
  '--github-output <NAME>',
  'in GitHub Actions: set this output of the step to the key',
  parseName,
);

function parseName(text: string, { env }: Io): string {
  if (!/^[A-Za-z_][\w-]{0,99}$/.test(text)) throw new UsageError(`'${text}' cannot be the name of an output`);
  if (!env.GITHUB_OUTPUT) {
    throw new UsageError('GITHUB_OUTPUT is not set: this is no step of a GitHub Actions job', ['Nothing was sent.']);
  }
  return text;
}

/** Lets the log of a GitHub Actions job show `***` in place of these texts. Masked keys are no secret. */
export async function maskInLog(
  secrets: readonly string[],
  { env, stderr }: Pick<Io, 'env' | 'stderr'>,
): Promise<void> {
  if (env.GITHUB_ACTIONS !== 'true') return;
  const masked = secrets.filter((secret) => secret !== '' && !isMaskedKey(secret));
  // On stderr: the runner reads both streams, and stdout is for the result.
  if (masked.length > 0) await stderr.write(masked.map((secret) => `::add-mask::${escaped(secret)}\n`).join(''));
}

/** Source: https://docs.github.com/actions/reference/workflow-commands */
const escaped = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Sets an output of the step, a line per value. Throws `LocalError` when it cannot be written. */
export async function setOutput(
  name: string | undefined,
  values: readonly string[],
  io: Io,
  idempotencyKey?: string,
): Promise<void> {
  if (name === undefined) return;
  await maskInLog(values, io);
  // A delimiter that no value contains.
  const end = `lkm_${io.uuid()}`;
  try {
    appendFileSync(io.env.GITHUB_OUTPUT ?? '', `${name}<<${end}\n${values.join('\n')}\n${end}\n`);
  } catch (cause) {
    const again = idempotencyKey === undefined ? '' : ` with --idempotency-key ${idempotencyKey}`;
    const hints = [`What was done is not lost: the same command${again} gets the same result.`];
    throw unwritable(`the output ${name}`, cause, { hints, ...(idempotencyKey && { idempotencyKey }) });
  }
}
