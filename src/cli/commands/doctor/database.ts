import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { checkExists, isPostgres, withoutPassword } from '../../config/location.ts';
import { masterKeyVariables, readMasterKey } from '../../config/master-key.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { loadOperator, type Operator } from '../../request/operator.ts';
import { type Check, fail, ok, runCheck, warn } from './check.ts';

/** Checks a database that commands open themselves. */
export async function examineDatabase(db: string, context: CommandContext): Promise<readonly Check[]> {
  const found = await runCheck('database', async () => {
    checkExists(db, [['A new one:', 'lkm quickstart, or --create with the command that makes it']]);
    return lookAt(db);
  });
  if (!('database' in found)) return [found];
  const { database, inspection } = found;
  const secrets = await checkSecrets(inspection, context.io);
  if (database.status === 'fail' || isPostgres(db)) return [database, secrets];
  return [database, secrets, await runCheck('disk', async () => checkDisk(dirname(db))), ...checkUnusedToken(context)];
}

type Inspection = Awaited<ReturnType<Operator['inspectDatabase']>>;

/** Looks at a database and at who has it; an inspection of null is a file that is not there yet. */
export async function lookAt(db: string): Promise<{ readonly database: Check; readonly inspection: Inspection }> {
  const { inspectDatabase } = await loadOperator();
  const inspection = await inspectDatabase(db);
  return { database: checkDatabase(db, inspection), inspection };
}

function checkDatabase(db: string, found: Inspection): Check {
  if (found === null) return ok('database', `${db} does not exist yet`);
  const { engine, done, pending, unknown, owner, warnings } = found;
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
  return ok('database', `${place}, ${done.length} migrations, up to date`);
}

/** Whether the master key of the environment opens the secrets of a database. */
export const checkSecrets = (found: Inspection, io: Io): Promise<Check> =>
  runCheck('secrets', async () => {
    const masterKey = readMasterKey(io);
    const kept = found?.secretsUnder(masterKey) ?? (masterKey === null ? 'plain' : 'sealed');
    const from = masterKeyVariables.find((name) => io.env[name]) ?? '';
    if (kept === 'sealed') return ok('secrets', `sealed under the master key of ${from}`);
    if (found?.isUsed) return warn('secrets', plain, 'Seal them: lkm db rekey');
    return warn('secrets', plain, `With ${masterKeyVariables[0]} set from the first start on they are sealed.`);
  });

const plain = 'private keys and other secrets are plain in the database';

/** A full disk fails every change. */
const MIN_FREE_BYTES = 100 * 1024 * 1024;

/** The free space where a folder is, or would be made. */
export function checkDisk(folder: string): Check {
  if (!existsSync(folder) && dirname(folder) !== folder) return checkDisk(dirname(folder));
  try {
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const detail = `${folder} cannot be written to (${codeOf(error)})`;
    return fail('disk', detail, 'SQLite writes beside the file also to read it: let this user write there.');
  }
  const { bavail, bsize } = statfsSync(folder);
  const free = `${Math.floor((bavail * bsize) / 1024 / 1024)} MiB free`;
  return bavail * bsize >= MIN_FREE_BYTES
    ? ok('disk', free)
    : warn('disk', free, 'Make room: a full disk fails every change.');
}

function checkUnusedToken({ io: { env } }: CommandContext): Check[] {
  if (!env.LKM_TOKEN && !env.LKM_TOKEN_FILE) return [ok('token', 'none is needed: whoever opens a database owns it')];
  const advice = 'With --db the command acts as the owner; --token-file PATH acts as a token.';
  return [warn('token', 'the token in the environment is not used', advice)];
}
