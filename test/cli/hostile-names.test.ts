import { beforeAll, describe, expect, it } from 'vitest';
import { openShop } from './shop.ts';

/** A hostile name: a formula, a shell substitution, and a character that reverses text. */
const HOSTILE = `=1+1|'$(touch x)'\u202e\`id\`;"`;

/** The commands that show lists or single objects. */
const views = [
  'products list',
  'products versions PRODUCT',
  'products get PRODUCT',
  'customers list',
  'customers get CUSTOMER',
  'customers keys CUSTOMER',
  'keys list --fields key,reference,metadata,allowedHosts',
  'keys list',
  'keys get KEY',
  'keys why KEY --host-id other',
  'keys history KEY',
  'keys export',
  'devices list KEY',
  'sessions list',
  'tokens list',
  'webhooks list',
  'events list',
  'audit list',
  'stats',
];

const { names, answer, at, json } = await openShop();

beforeAll(async () => {
  names.HOSTILE = HOSTILE;
  names.NOTE = `note=${HOSTILE}`;
  names.FEATURE = `f=${HOSTILE}`;
  names.PRODUCT = await answer('products create --name HOSTILE -q');
  await answer('products add-version PRODUCT HOSTILE --description HOSTILE');
  names.CUSTOMER = await answer('customers create --name HOSTILE -q');
  const own = '--reference HOSTILE --metadata NOTE --feature FEATURE --allow-host HOSTILE --allow-host h';
  names.KEY = await answer(`keys create -P PRODUCT --customer CUSTOMER ${own}`);
  await answer('keys activate KEY -P PRODUCT --host-id HOSTILE --tag HOSTILE');
  names.FLOATING = await answer('keys create -P PRODUCT --type floating');
  await answer('keys checkout FLOATING -P PRODUCT --host-id HOSTILE --tag HOSTILE --user HOSTILE');
  await answer('tokens create --kind read-only --name HOSTILE');
});

describe('names that others chose', () => {
  it.each(views)('neither reverse text nor are a formula in %s', async (words) => {
    for (const format of ['table', 'tsv', 'csv', 'json', 'jsonl']) {
      for (const terminal of [true, false]) {
        const { code, stdout, stderr } = await at(`${words} --format ${format}`, {
          terminal,
          env: { LKM_PRODUCT: '' },
        });
        expect({ code: words.startsWith('keys why') ? 0 : code, format }).toEqual({ code: 0, format });
        // A file that is imported again has every sign.
        if (terminal || words !== 'keys export') expect(stdout + stderr).not.toContain('\u202e');
        if (format === 'csv') expect(stdout).not.toMatch(/(^|,)"?[=+@]/m);
      }
    }
  });

  it('are shown escaped, and unchanged as JSON', async () => {
    const { stdout } = await at('products list', { terminal: true, columns: 120 });
    expect(stdout).toContain(HOSTILE.replace('\u202e', '\\u{202e}'));
    expect(await json('products list')).toContainEqual(expect.objectContaining({ name: HOSTILE }));
  });
});
