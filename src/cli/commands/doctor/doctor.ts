import { accessSync, constants, existsSync } from 'node:fs';
import { command } from '../../command.ts';
import { configFile, readConfig } from '../../config/config-file.ts';
import { configDir, stateDir } from '../../config/files.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf } from '../../failure/errors.ts';
import { count } from '../../output/words.ts';
import { chooseTarget, type Target } from '../../request/target.ts';
import { type Check, checkFields, checkResult, failedBy, ok, runCheck, warn } from './check.ts';
import { examineDatabase } from './database.ts';
import { examineService } from './service.ts';

export const doctor = command({
  about:
    'Checks what commands here rely on, from the configuration to the service, and says what to do about what is wrong. ' +
    'Changes nothing. Ends with 13 when something fails; what is only worth knowing is a warning. For what a server ' +
    'relies on: lkm serve --check-config.',
  fields: checkFields,
  examples: [
    ['lkm doctor', 'when something does not work'],
    ['lkm doctor --json', 'for a bug report; it holds no secret'],
  ],
  run: async (_, context) => checkResult(await examine(context), context),
});

/** Makes all checks, from what is on this machine to the service; one that cannot be made is left out. */
async function examine(context: CommandContext): Promise<readonly Check[]> {
  const { io } = context;
  const local = [
    ok('lkm', `${io.version} on Node.js ${io.nodeVersion}, ${io.platform}`),
    await checkConfigFile(context),
    checkStateFolder(context),
  ];
  const chosen = await runCheck('service', async () => {
    const target = await chooseTarget(context.flags, io);
    return { target, check: ok('service', describeTarget(target)) };
  });
  if (!('target' in chosen)) return [...local, chosen];
  const { target, check } = chosen;
  const found =
    target.kind === 'database' ? await examineDatabase(target.db, context) : await examineService(target, context);
  return [...local, check, ...found];
}

const describeTarget = (target: Target): string =>
  target.kind === 'database'
    ? 'a database in this process'
    : `${target.baseUrl}${target.profile === null ? '' : `, profile ${target.profile.name}`}`;

/** The file of settings and profiles. */
export async function checkConfigFile({ io }: CommandContext): Promise<Check> {
  try {
    const { profiles, currentProfile } = await readConfig(io);
    const path = configFile(io);
    if (!existsSync(path)) return ok('config', `${path} does not exist yet`);
    const known = count(Object.keys(profiles).length, 'profile');
    if (currentProfile !== null && !Object.hasOwn(profiles, currentProfile)) {
      const advice = 'Choose one of those that are stored: lkm auth switch';
      return warn('config', `${path}, ${known}; the current one, ${currentProfile}, is not among them`, advice);
    }
    return ok('config', `${path}, ${known}${currentProfile === null ? '' : `, ${currentProfile} is current`}`);
  } catch (error) {
    return failedBy('config', error);
  }
}

/** Without this folder a command that was killed cannot be repeated. */
export function checkStateFolder({ io }: CommandContext): Check {
  const folder = stateDir(io);
  const missing = 'A command that is killed cannot be repeated without it: set LKM_STATE_DIR.';
  try {
    const nearest = [folder, configDir(io), io.home].find((one) => existsSync(one)) ?? io.home;
    accessSync(existsSync(folder) ? folder : nearest, constants.W_OK);
    return ok('state', existsSync(folder) ? folder : `${folder} does not exist yet`);
  } catch (error) {
    return warn('state', `${folder} cannot be written (${codeOf(error)})`, missing);
  }
}
