import { type GlobalOption, globalOptions } from '../global-options.ts';
import { rows } from './section.ts';

const own = [
  ['LKM_TOKEN', 'the token itself'],
  ['LKM_PRODUCT', 'the product of the keys commands: -P'],
  ['LKM_KEY_CHECK', 'off: send licence keys exactly as given, as --no-key-check does'],
  ['LKM_CONFIG_DIR', 'the folder of config.json'],
  ['LKM_STATE_DIR', 'the folder of the calls that have no answer yet'],
] as const;

const ofOthers = [
  ['CI', 'set on build machines: nothing is asked'],
  ['FORCE_COLOR', 'colours without a terminal too'],
  ['HTTPS_PROXY, NO_PROXY', 'the proxy to a remote service'],
  ['XDG_CONFIG_HOME', 'holds lkm/config.json, unless LKM_CONFIG_DIR is set'],
  ['XDG_STATE_HOME', 'holds lkm, unless LKM_STATE_DIR is set'],
  ['XDG_DATA_HOME', 'holds lkm/lkm.db, the database of lkm serve'],
] as const;

export function environment(): string {
  const options: readonly GlobalOption[] = globalOptions;
  const flags = options.flatMap(({ env, describe }) => (env ? [[env, describe] as const] : []));
  return [
    'A flag goes before its variable, a variable before the profile.\n',
    rows([...own, ...flags, ...ofOthers]),
    'Switches are on with 1, true, yes, on and off with 0, false, no, off or nothing.',
    'Durations are 90s, 15m, 12h, 30d or 1y (365 days). What expires in days or years',
    'does so at the end of that day, UTC, as with a date.',
    'A PostgreSQL address with a password belongs in LKM_DB, or the password in',
    'PGPASSWORD: others on this machine can read a command line.',
    '',
  ].join('\n');
}
