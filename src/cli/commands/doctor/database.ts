import { accessSync, constants, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isPostgres, withoutPassword } from '../../config/location.ts';
import { masterKeyVariables, readMasterKey } from '../../config/master-key.ts';
import { codeOf } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { loadOperator, type Operator } from '../../request/operator.ts';
import { type Check, fail, failed, ok, warn } from './check.ts';

/** Checks a database that commands open themselves. */
export async function examineDatabase(db: string, io: Io): Promise<readonly Check[]> {
  const { inspectDatabase } = await loadOperator();
  const found = await inspectDatabase(db).catch(failed('database'));
  if (found === null) {
    const advice = 'A new one: lkm quickstart, or --create with the command that makes it';
    return [fail('database', `${db} does not exist, or is empty`, advice)];
  }
  if ('check' in found) return [found];
  const checks = [checkSchema(db, found), await checkSecrets(found, io).catch(failed('secrets'))];
  return isPostgres(db) ? checks : [...checks, checkDisk(db), checkUnusedToken(io)];
}

type Inspection = NonNullable<Awaited<ReturnType<Operator['inspectDatabase']>>>;

function checkSchema(db: string, { engine, done, pending, unknown, owner, warnings }: Inspection): Check {
  const place = `${withoutPassword(db)}, ${engine}`;
  if (unknown.length > 0) return fail('database', `${place}: a newer lkm has changed it`, 'Use that version of lkm.');
  if (owner !== null) {
    const holder = owner.pid === undefined ? 'another process' : `process ${owner.pid}`;
    return owner.url === undefined
      ? fail('database', `${place}, is in use by ${holder}`, 'Wait until it has finished.')
      : fail('database', `${place}, is served by ${holder} at ${owner.url}`, 'Use that server, or stop it first.');
  }
  if (pending.length > 0) {
    const advice = 'A server runs them when it starts; before: lkm db migrate';
    return warn('database', `${place}: ${count(pending.length, 'migration')} to run, ${pending.join(', ')}`, advice);
  }
  const [warning] = warnings;
  if (warning !== undefined) return warn('database', warning, `Close it: chmod 600 ${db}`);
  return ok('database', `${place}, ${count(done.length, 'migration')}, up to date`);
}

/** Whether the master key of the environment opens the secrets of a database. */
async function checkSecrets({ secretsUnder }: Inspection, io: Io): Promise<Check> {
  if (secretsUnder(readMasterKey(io)) === 'plain') {
    return warn('secrets', 'private keys and other secrets are plain in the database', 'Seal them: lkm db rekey');
  }
  return ok('secrets', `sealed under the master key of ${masterKeyVariables.find((name) => io.env[name])}`);
}

/** A full disk fails every change. */
const MIN_FREE_BYTES = 100 * 1024 * 1024;

function checkDisk(db: string): Check {
  const folder = dirname(db);
  try {
    accessSync(folder, constants.W_OK);
    accessSync(db, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    const free = `${Math.floor((bavail * bsize) / 1024 / 1024)} MiB free`;
    if (bavail * bsize >= MIN_FREE_BYTES) return ok('disk', free);
    return warn('disk', free, 'Make room: a full disk fails every change.');
  } catch (error) {
    const advice = 'SQLite writes beside the file also to read it: let this user write there.';
    return fail('disk', `${db} or its folder cannot be written to (${codeOf(error)})`, advice);
  }
}

function checkUnusedToken({ env }: Io): Check {
  if (!env.LKM_TOKEN && !env.LKM_TOKEN_FILE) return ok('token', 'none is needed: whoever opens a database owns it');
  const advice = 'With --db the command acts as the owner; --token-file PATH acts as a token.';
  return warn('token', 'the token in the environment is not used', advice);
}
