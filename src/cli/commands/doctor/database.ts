import { withoutPassword } from '../../config/location.ts';
import { readMasterKey } from '../../config/master-key.ts';
import type { CommandContext } from '../../context.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { loadOperator, type Operator } from '../../request/operator.ts';
import { type Check, fail, failed, ok, warn } from './check.ts';

/** Checks the database of `--db`. */
export async function examineDatabase(db: string, context: CommandContext): Promise<readonly Check[]> {
  const { inspect } = await loadOperator();
  const found = await inspect(db).catch(failed('database'));
  if (found === null) {
    const advice = 'A new database: lkm quickstart, or --create with the first command';
    return [fail('database', `${db} does not exist, or is empty`, advice)];
  }
  if ('check' in found) return [found];
  return [
    await Promise.try(() => checkInspected(db, found, context)).catch(failed('database')),
    checkUnusedToken(context.io),
  ];
}

type Inspection = NonNullable<Awaited<ReturnType<Operator['inspect']>>>;

/** Throws `StartupError` if the master key does not open the secrets. */
function checkInspected(db: string, found: Inspection, { io, flags }: CommandContext): Check {
  const { engine, done, pending, unknown, owner, warnings } = found;
  const place = `${withoutPassword(db)}, ${engine}`;
  if (unknown.length > 0) return fail('database', `${place}: a newer lkm has changed it`, 'Use that version of lkm.');
  if (owner !== null) {
    const holder = owner.pid === undefined ? 'another process' : `process ${owner.pid}`;
    return owner.url === undefined
      ? fail('database', `${place}, is in use by ${holder}`, 'Wait until it has finished.')
      : fail('database', `${place}, is served by ${holder} at ${owner.url}`, 'Use that server, or stop it first.');
  }
  const secrets = found.secretsUnder(readMasterKey(io, flags));
  if (pending.length > 0) {
    const advice = 'A server runs them when it starts; before: lkm db migrate';
    return warn('database', `${place}: ${count(pending.length, 'migration')} to run, ${pending.join(', ')}`, advice);
  }
  const [warning] = warnings;
  if (warning !== undefined) return warn('database', warning, `Close it: chmod 600 ${db}`);
  return ok('database', `${place}, ${count(done.length, 'migration')}, up to date, its secrets ${secrets}`);
}

function checkUnusedToken({ env }: Io): Check {
  if (!env.LKM_TOKEN && !env.LKM_TOKEN_FILE) return ok('token', 'none is needed: whoever opens a database owns it');
  const advice = 'With --db the command acts as the owner; --token-file PATH acts as a token.';
  return warn('token', 'the token in the environment is not used', advice);
}
