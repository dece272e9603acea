import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command } from '../../command.ts';
import { checkPrivateFolder, stateDir } from '../../config/files.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf, LocalError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { count, moment } from '../../output/words.ts';
import { chooseTarget } from '../../request/target.ts';
import { openPending } from '../../state/pending.ts';
import { hasPending } from '../../state/pending-files.ts';
import { type Check, checkResult, fail, failed, ok, warn } from './check.ts';
import { examineDatabase } from './database.ts';
import { examineService } from './service.ts';

export const doctor = command({
  about:
    'Checks what commands here rely on, from the state folder to the service, and says what to do about what is wrong. ' +
    'Changes nothing. Ends with 13 when something fails; what is only worth knowing is a warning.',
  fields: ['check', 'status', 'detail', 'advice'],
  examples: [
    ['lkm doctor', 'when something does not work'],
    ['lkm doctor --json', 'for a bug report; it holds no secret'],
  ],
  run: async (_, context) => checkResult(await examine(context), context),
});

/** Checks this machine first, then the service; leaves out impossible checks. */
async function examine(context: CommandContext): Promise<readonly Check[]> {
  const { io, flags } = context;
  const local = [
    ok('lkm', `${io.version} on Node.js ${io.nodeVersion}, ${io.platform}`),
    await Promise.try(() => checkStateFolder(io)).catch(failed('state')),
  ];
  const target = await chooseTarget(flags, io).catch(failed('target'));
  if ('check' in target) return [...local, target];
  const profile = target.kind === 'remote' && target.profile !== null ? `, profile ${target.profile.name}` : '';
  const found =
    target.kind === 'database'
      ? [ok('target', 'a database in this process'), ...(await examineDatabase(target.db, context))]
      : [ok('target', `${target.baseUrl}${profile}`), ...(await examineService(target, context))];
  return [...local, ...found, ...(found.some(isFailure) ? [] : await checkWebhooks(context))];
}

const isFailure = ({ status }: Check): boolean => status === 'fail';

/** Disabled webhooks miss events. No check if the token may not see webhooks. */
async function checkWebhooks(context: CommandContext): Promise<readonly Check[]> {
  const all = await context
    .client()
    .then(({ webhooks }) => webhooks.list())
    .catch(() => null);
  const disabled = (all?.items ?? []).filter(({ disabledAt }) => disabledAt !== null);
  if (disabled.length === 0) return [];
  const told = disabled.map(({ id, waiting, lastError }) => `${id} (${count(waiting, 'event')} wait, ${lastError})`);
  const goOn = 'lkm webhooks update ID --active also sends the events of the last 30 days';
  return [fail('webhooks', `disabled: ${told.join(', ')}`, goOn)];
}

/** Checks the state folder and names pending changes, without creating anything. Throws `LocalError`. */
function checkStateFolder(io: Io): Check {
  const folder = stateDir(io);
  const pending = hasPending(io) ? openPending(io).list() : [];
  let parent = folder;
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    accessSync(join(parent, '.'), constants.W_OK | constants.X_OK);
  } catch (cause) {
    const hint = 'A change is written down before it is sent: set LKM_STATE_DIR to a folder that can be written to.';
    throw new LocalError(`${folder} cannot be written (${codeOf(cause)})`, [hint], { cause });
  }
  if (parent === folder) checkPrivateFolder(folder, io);
  if (pending.length > 0) {
    // Without the query, which may hold a licence key.
    const told = pending.map(
      ({ value }) => `${value.method} ${value.path.replace(/[?].*/s, '')} of ${moment(value.createdAt)}`,
    );
    return warn(
      'state',
      `${folder}: no response yet to ${told.join(', ')}`,
      'Run the same command again: it finishes the change.',
    );
  }
  return ok('state', parent === folder ? folder : `${folder} does not exist yet`);
}
