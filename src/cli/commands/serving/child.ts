import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Client } from '../../../client/client.ts';
import { toInstant } from '../../../domain/time.ts';
import { isPostgres, locate } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf, LocalError, UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { CommandResult } from '../../output/result.ts';
import { quote } from '../../output/words.ts';
import { asOwnerOf } from '../../request/connection.ts';
import type { ServeValues } from './options.ts';
import { start } from './start.ts';

/** Serves while a command runs, which has stdout for itself. */
export async function serveCommand(
  words: readonly string[],
  values: ServeValues,
  context: CommandContext,
): Promise<CommandResult> {
  const { io, flags, settings } = context;
  if (settings.output !== null) throw new UsageError('-o does not go with a command behind --');
  const db = flags.db ? locate(flags.db, io) : temporaryDatabase(context);
  const { logFormat = 'none', clock, seed } = values;
  const serveWith = async (lent: string | null): Promise<number> => {
    const { server, adminToken } = await start({ ...values, logFormat }, db, values.port ?? 0, context);
    try {
      return await runAgainst(server.url, lent ?? adminToken ?? '', words, io);
    } finally {
      await server.close();
    }
  };
  const isThere = seed === undefined && (isPostgres(db) || existsSync(db));
  const exitCode = isThere ? await withTemporaryToken(db, clock, context, serveWith) : await serveWith(null);
  return { kind: 'chunks', chunks: nothing(), data: null, quiet: [], exitCode };
}

async function* nothing(): AsyncGenerator<never> {}

/** A temporary database, removed when lkm ends. */
function temporaryDatabase({ io, onClose }: CommandContext): string {
  const folder = join(io.tempDir, `lkm-serve-${io.uuid().slice(0, 8)}`);
  mkdirSync(folder, { mode: 0o700 });
  onClose(async () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'lkm.db');
}

const DAY_MS = 86_400_000;

/** Creates an admin token for `work`, by the clock of the server, and revokes it afterwards. */
async function withTemporaryToken<T>(
  db: string,
  clock: number | undefined,
  context: CommandContext,
  work: (token: string) => Promise<T>,
): Promise<T> {
  const { io, say } = context;
  const now = clock === undefined ? io.now : () => clock;
  const asOwner = <R>(call: (client: Client) => Promise<R>) =>
    asOwnerOf(db, context, { create: false, migrate: true, clock: now }, call);
  const expiresAt = toInstant(now() + DAY_MS);
  const { id, token } = await asOwner(({ tokens }) => tokens.create({ name: 'lkm serve', kind: 'admin', expiresAt }));
  try {
    return await work(token);
  } finally {
    await asOwner(({ tokens }) => tokens.revoke({ tokenId: id, force: true })).catch((error: unknown) => {
      const text = `the token of the command is valid for a day: it could not be revoked (${codeOf(error)})`;
      return say({ tone: 'warning', text });
    });
  }
}

/** Variables that name another service. */
const replaced = ['LKM_DB', 'LKM_PROFILE', 'LKM_TOKEN_FILE'];

/** Runs a command against a server; resolves to its exit code as a shell reports it. Throws `LocalError`. */
async function runAgainst(
  url: string,
  token: string,
  [program = '', ...words]: readonly string[],
  io: Io,
): Promise<number> {
  const others = Object.entries(io.env).filter(([name]) => !replaced.includes(name));
  const env = { ...Object.fromEntries(others), LKM_BASE_URL: url, LKM_TOKEN: token };
  const child = spawn(program, words, { cwd: io.cwd, env, stdio: 'inherit' });
  // A terminal sends Ctrl-C to the command itself.
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

function notRun(program: string, cause: unknown): LocalError {
  const isDatabase = isPostgres(program) || /\.(db|sqlite3?)$/.test(program);
  const hint = isDatabase ? `Perhaps: lkm serve --db ${quote(program)}` : 'Check the words behind --.';
  return new LocalError(`cannot run ${program} (${codeOf(cause)})`, [hint], { cause });
}
