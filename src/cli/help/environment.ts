import { type GlobalOption, globalOptions } from '../global-options.ts';
import type { Row, Section } from './section.ts';

const options: readonly GlobalOption[] = globalOptions;

export const environment: readonly Section[] = [
  ['', 'A flag goes before its variable, a variable before the profile.'],
  [
    'Token, product and keys',
    [
      ['LKM_TOKEN', 'the token itself'],
      ['LKM_PRODUCT', 'the product of the keys commands, as -P: keys of other products are not found'],
      ['LKM_KEY_CHECK', 'off: send licence keys exactly as given, as --no-key-check does'],
      ['LKM_WEBHOOK_SECRET', 'the secret that webhooks listen signs with'],
      ['LKM_MASTER_KEY_FILE', 'the file of the key that opens sealed secrets: 32 bytes in base64, mode 0600'],
      ['LKM_MASTER_KEY', 'that key itself'],
    ],
  ],
  ['Options', options.flatMap(({ env, describe }): Row[] => (env ? [[env, describe]] : []))],
  [
    'Files',
    [
      ['LKM_CONFIG_DIR', 'the folder of config.json'],
      ['LKM_STATE_DIR', 'the folder of bulk runs, and of requests that have no response yet'],
      ['XDG_CONFIG_HOME', 'holds lkm/config.json, unless LKM_CONFIG_DIR is set'],
      ['XDG_STATE_HOME', 'holds lkm, unless LKM_STATE_DIR is set'],
      ['XDG_DATA_HOME', 'holds lkm/lkm.db, the database of lkm serve'],
      ['APPDATA', 'on Windows, in place of XDG_CONFIG_HOME'],
      ['LOCALAPPDATA', 'on Windows, in place of XDG_STATE_HOME and XDG_DATA_HOME'],
    ],
  ],
  [
    'Terminal, network and build machines',
    [
      ['CI', 'set on build machines: nothing is asked'],
      ['GITHUB_ACTIONS', 'true: keys are masked in the log of the job'],
      ['GITHUB_OUTPUT', 'the file of the outputs of a step'],
      ['FORCE_COLOR', 'colours without a terminal too, unless NO_COLOR is set'],
      ['TERM', 'dumb: no colours, and nothing that moves'],
      ['HTTPS_PROXY, HTTP_PROXY', 'the proxy to a remote service, also in lower case; http:// may be left out'],
      ['NO_PROXY', 'what is reached without it: names, .domains, addresses, networks such as 10.0.0.0/8, or *'],
      ['NODE_EXTRA_CA_CERTS', 'a file (PEM) with certificates of further authorities that are trusted'],
    ],
  ],
  [
    'Values',
    [
      ['switches', '1, true, yes, on; 0, false, no, off, or empty'],
      ['durations', '90s, 15m, 12h, 30d, 2w, 6mo, 1y, or several: 1y6mo, 1h30m'],
      ['', 'm is minutes; after years, as in 1y6m, months'],
      ['', 'a month has 30 days and a year 365'],
      ['in --expires', 'months and years follow the calendar; 6m is refused, write 6mo or 6min'],
      ['', 'days and longer units end with the day, UTC'],
    ],
  ],
  [
    'Passwords',
    'Others on this machine can read a command line. Give a PostgreSQL address with a password in LKM_DB, or the ' +
      'password in PGPASSWORD.',
  ],
];
