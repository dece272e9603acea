import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { command } from '../../command.ts';
import { configFile, readConfig } from '../../config/config-file.ts';
import { checkPrivateFolder, findConfigDir, stateDir } from '../../config/files.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf, LocalError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { chooseTarget } from '../../request/target.ts';
import { hasState, openState } from '../../state/state.ts';
import { type Check, checkResult, fail, failed, ok, warn } from './check.ts';
import { examineDatabase } from './database.ts';
import { examineService } from './service.ts';

export const doctor = command({
  about:
    'Checks what commands here rely on, from the configuration to the service, and says what to do about what is wrong. ' +
    'Changes nothing. Ends with 13 when something fails; what is only worth knowing is a warning.',
  fields: ['check', 'status', 'detail', 'advice'],
  examples: [
    ['lkm doctor', 'when something does not work'],
    ['lkm doctor --json', 'for a bug report; it holds no secret'],
  ],
  run: async (_, context) => checkResult(await examine(context), context),
});

/** Makes all checks, from what is on this machine to the service; one that cannot be made is left out. */
async function examine(context: CommandContext): Promise<readonly Check[]> {
  const { io, flags } = context;
  const local = [
    ok('lkm', `${io.version} on Node.js ${io.nodeVersion}, ${io.platform}`),
    await checkConfigFile(io).catch(failed('config')),
    await Promise.try(() => checkStateFolder(io)).catch(failed('state')),
  ];
  const target = await chooseTarget(flags, io).catch(failed('service'));
  if ('check' in target) return [...local, target];
  if (target.kind === 'database') {
    const found = [ok('service', 'a database in this process'), ...(await examineDatabase(target.db, io))];
    return [...local, ...found, ...(found.some(isFailure) ? [] : await checkWebhooks(context))];
  }
  const profile = target.profile === null ? '' : `, profile ${target.profile.name}`;
  const found = [ok('service', `${target.baseUrl}${profile}`), ...(await examineService(target, context))];
  return [...local, ...found, ...(found.some(isFailure) ? [] : await checkWebhooks(context))];
}

const isFailure = ({ status }: Check): boolean => status === 'fail';

/** One that was disabled misses what happens; one that fails will be. Nothing for a token that may not see them. */
async function checkWebhooks(context: CommandContext): Promise<readonly Check[]> {
  const all = await context
    .client()
    .then(({ webhooks }) => webhooks.list())
    .catch(() => null);
  const disabled = (all?.items ?? []).filter(({ disabledAt }) => disabledAt !== null);
  const failing = (all?.items ?? []).filter(({ active, failingSince }) => active && failingSince !== null);
  const tell = (webhooks: typeof failing) =>
    webhooks.map(({ id, waiting, lastError }) => `${id} (${count(waiting, 'event')} wait, ${lastError})`).join(', ');
  const goOn = 'What it missed in the last 30 days is sent with: lkm webhooks update ID --active';
  if (disabled.length > 0) return [fail('webhooks', `disabled: ${tell(disabled)}`, goOn)];
  if (failing.length === 0) return [];
  return [warn('webhooks', `failing: ${tell(failing)}`, 'After five days it is disabled: lkm webhooks test ID')];
}

async function checkConfigFile(io: Io): Promise<Check> {
  if (findConfigDir(io) === null) {
    return warn('config', 'there is no folder for it', 'lkm login and lkm config need one: set LKM_CONFIG_DIR.');
  }
  const path = configFile(io);
  const { profiles, currentProfile } = await readConfig(io);
  if (!existsSync(path)) return ok('config', `${path} does not exist yet`);
  const found = `${path}, ${count(Object.keys(profiles).length, 'profile')}`;
  if (currentProfile === null) return ok('config', found);
  if (Object.hasOwn(profiles, currentProfile)) return ok('config', `${found}, ${currentProfile} is current`);
  const advice = 'Choose one of those that are stored: lkm auth switch';
  return warn('config', `${found}; the current one, ${currentProfile}, is not among them`, advice);
}

/** Checks what a change needs before it is sent, and makes nothing. Throws `LocalError`. */
function checkStateFolder(io: Io): Check {
  const folder = stateDir(io);
  if (hasState(io)) openState(io).close();
  let parent = folder;
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    accessSync(join(parent, '.'), constants.W_OK | constants.X_OK);
  } catch (cause) {
    const hint = 'A change is written down before it is sent: set LKM_STATE_DIR to a folder that can be written to.';
    throw new LocalError(`${folder} cannot be written (${codeOf(cause)})`, [hint], { cause });
  }
  if (parent === folder) checkPrivateFolder(folder, io);
  return ok('state', parent === folder ? folder : `${folder} does not exist yet`);
}
