import { type GlobalOption, globalOptions } from '../global-options.ts';
import { type HelpView, plainHelp, prose, rows } from './section.ts';

const own = [
  ['LKM_TOKEN', 'the token itself'],
  ['LKM_PRODUCT', 'the product of the keys commands: -P'],
  ['LKM_KEY_CHECK', 'off: send licence keys exactly as given, as --no-key-check does'],
  ['LKM_CONFIG_DIR', 'the folder of config.json'],
  ['LKM_STATE_DIR', 'the folder of the requests that have no response yet'],
] as const;

const ofOthers = [
  ['CI', 'set on build machines: nothing is asked'],
  ['FORCE_COLOR', 'colours without a terminal too, unless NO_COLOR is set'],
  ['HTTPS_PROXY, NO_PROXY', 'the proxy to a remote service'],
  ['XDG_CONFIG_HOME', 'holds lkm/config.json, unless LKM_CONFIG_DIR is set'],
  ['XDG_STATE_HOME', 'holds lkm, unless LKM_STATE_DIR is set'],
  ['XDG_DATA_HOME', 'holds lkm/lkm.db, the database of lkm serve'],
] as const;

export function environment(view: HelpView = plainHelp): string {
  const options: readonly GlobalOption[] = globalOptions;
  const flags = options.flatMap(({ env, describe }) => (env ? [[env, describe] as const] : []));
  return [
    prose(['A flag goes before its variable, a variable before the profile.'], view),
    rows([...own, ...flags, ...ofOthers], view),
    prose(
      [
        'Switches are on with 1, true, yes, on and off with 0, false, no, off or nothing.',
        'Durations are 90s, 15m, 12h, 30d, 2w, 6mo, 1y, or several from large to small: 1y6mo, 1h30m. m is minutes; ' +
          'after years, as in 1y6m, it is months. A month counts 30 days and a year 365, except in --expires, which ' +
          'counts them by the calendar and, since 6m could mean either, wants 6mo or 6min. What expires in days or ' +
          'longer units does so at the end of that day, UTC, as with a date.',
        'A PostgreSQL address with a password belongs in LKM_DB, or the password in PGPASSWORD: others on this ' +
          'machine can read a command line.',
      ],
      view,
    ),
  ].join('\n');
}
