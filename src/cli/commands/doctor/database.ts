import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkExists, isPostgres, withoutPassword } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import { loadOperator } from '../../request/server.ts';
import { type Check, fail, ok, warn } from './check.ts';
import { tried } from './tried.ts';

/** Checks a database that commands open themselves. */
export async function examineDatabase(db: string, context: CommandContext): Promise<readonly Check[]> {
  const database = await tried('database', () => schemaOf(db));
  if (database.status === 'fail' || isPostgres(db)) return [database];
  return [database, await tried('disk', async () => spaceFor(db)), ...tokenNote(context)];
}

async function schemaOf(db: string): Promise<Check> {
  checkExists(db, [['A new one:', 'lkm quickstart, or --create with the command that makes it']]);
  const { databaseStatus } = await loadOperator();
  const { engine, done, pending, unknown } = await databaseStatus(db);
  const place = `${withoutPassword(db)}, ${engine}`;
  if (unknown.length > 0) return fail('database', `${place}: a newer lkm has changed it`, 'Use that version of lkm.');
  if (pending.length === 0) return ok('database', `${place}, ${done.length} migrations, up to date`);
  return warn('database', `${place}: ${pending.length} migrations to run`, 'Run them: lkm db migrate');
}

/** A full disk fails every change. */
const LEAST_FREE_BYTES = 100 * 1024 * 1024;

function spaceFor(db: string): Check {
  const { bavail, bsize } = statfsSync(dirname(db));
  const free = `${Math.floor((bavail * bsize) / 1024 / 1024)} MiB free`;
  return bavail * bsize >= LEAST_FREE_BYTES
    ? ok('disk', free)
    : warn('disk', free, 'Make room: a full disk fails every change.');
}

function tokenNote({ io: { env } }: CommandContext): Check[] {
  if (!env.LKM_TOKEN && !env.LKM_TOKEN_FILE) return [ok('token', 'none is needed: whoever opens a database owns it')];
  const advice = 'With --db the command acts as the owner; --token-file PATH acts as a token.';
  return [warn('token', 'the token in the environment is not used', advice)];
}
