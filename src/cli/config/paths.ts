import { join } from 'node:path';
import type { Io } from '../io.ts';

type Place = Pick<Io, 'env' | 'home' | 'platform'>;

/** The folder of the configuration: `LKM_CONFIG_DIR`, else the place the system has for it. */
export function configDir({ env, home, platform }: Place): string {
  if (env.LKM_CONFIG_DIR) return env.LKM_CONFIG_DIR;
  if (platform === 'win32' && env.APPDATA) return join(env.APPDATA, 'lkm');
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'lkm');
}

/** The folder of what is under way: `LKM_STATE_DIR`, else the place the system has for it. */
export function stateDir({ env, home, platform }: Place): string {
  if (env.LKM_STATE_DIR) return env.LKM_STATE_DIR;
  if (platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'lkm', 'State');
  return join(env.XDG_STATE_HOME || join(home, '.local', 'state'), 'lkm');
}

/** The database that `lkm serve` uses when none is named. */
export function defaultDatabase({ env, home, platform }: Place): string {
  if (platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'lkm', 'Data', 'lkm.db');
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'lkm', 'lkm.db');
}
