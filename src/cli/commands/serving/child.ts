import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../../client/client.ts';
import { toInstant } from '../../../domain/time.ts';
import { checkExists, serviceOptionFor } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf, type Hint, LocalError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { quote } from '../../output/words.ts';
import { inProcessUrl, openInstance } from '../../request/connection.ts';

/** A database for the time of one command, in a folder that is removed when lkm ends. */
export function temporaryDatabase({ io, onClose }: CommandContext): string {
  const folder = join(io.tempDir, `lkm-serve-${io.uuid().slice(0, 8)}`);
  mkdirSync(folder, { mode: 0o700 });
  onClose(async () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'lkm.db');
}

const DAY_MS = 86_400_000;

/** Makes an admin token for the time of one command, on a database that is there; `revoke` ends it. */
export async function temporaryToken(
  db: string,
  io: Io,
): Promise<{ token: string; revoke(url: string): Promise<void> }> {
  checkExists(db);
  const instance = await openInstance(db, io, { create: false });
  try {
    const { fetch, ownerToken } = instance;
    const client = createClient({ baseUrl: inProcessUrl, fetch, token: ownerToken });
    const expiresAt = toInstant(io.now() + DAY_MS);
    const { id, token } = await client.tokens.create({ name: 'lkm serve', kind: 'admin', expiresAt });
    const revoke = async (url: string) =>
      createClient({ baseUrl: url, token }).tokens.revoke({ tokenId: id, force: true });
    return { token, revoke };
  } finally {
    await instance.close();
  }
}

/** Variables that would lead the command to another service, or to none. */
const replaced = ['LKM_DB', 'LKM_PROFILE', 'LKM_TOKEN_FILE'];

/**
 * Runs a command with the address of a server and a token in its environment; resolves to its exit code, and to that of
 * a shell when a signal ended it. Throws `LocalError` when it cannot be run.
 */
export async function runAgainst(
  { url }: { readonly url: string },
  token: string,
  [program = '', ...words]: readonly string[],
  io: Io,
): Promise<number> {
  const others = Object.entries(io.env).filter(([name]) => !replaced.includes(name));
  const env = { ...Object.fromEntries(others), LKM_BASE_URL: url, LKM_TOKEN: token };
  const child = spawn(program, words, { cwd: io.cwd, env, stdio: 'inherit' });
  // Ctrl-C reaches the command from the terminal itself.
  const pass = (): void => {
    if (io.stop.reason !== 'SIGINT' || !io.stdin.isTTY) child.kill(io.stop.reason);
  };
  if (io.stop.aborted) pass();
  io.stop.addEventListener('abort', pass, { once: true });
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', (cause) => reject(notRun(program, cause)));
      child.once('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  } finally {
    io.stop.removeEventListener('abort', pass);
  }
}

const notRun = (program: string, cause: unknown): LocalError =>
  new LocalError(`cannot run ${program} (${codeOf(cause)})`, [hintFor(program)], { cause });

function hintFor(program: string): Hint {
  const option = serviceOptionFor(program);
  return option === undefined ? 'Check the words behind --.' : ['Perhaps:', `lkm serve ${option} ${quote(program)}`];
}
