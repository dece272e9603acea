import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { openShop } from './shop.ts';

/** A shop in which a key of Ada is used, given to another customer and revoked. */
async function furnish() {
  const shop = await openShop();
  shop.names.ADA = await shop.answer('customers create Ada -q');
  const key = await shop.answer('keys create --customer ADA --type floating --max-sessions 2 --expires 2027-01-31 -q');
  await shop.at(`keys checkout ${key} --host-id pc-1 --user karl`);
  await shop.at(`keys renew ${key} 1y`);
  shop.names.OTHER = 'Société de la Bibliothèque Étienne';
  await shop.at(`keys transfer ${key} --new-customer-name OTHER`);
  shop.names.REASON = 'refund of order 1042';
  await shop.at(`keys revoke ${key} --reason REASON --yes`);
  return { ...shop, key };
}

it('shows who did what, when and on what in a table, at 80 columns', async () => {
  const { at, key } = await furnish();
  const { stdout } = await at('audit list --last 3', { terminal: true });
  expect(stripVTControlCharacters(stdout)).toBe(
    [
      'WHEN                  WHO                    WHAT           ON',
      `2026-11-21 12:00 UTC  owner of the database  keys.renew     …${key.slice(-5)} Ada`,
      `2026-11-21 12:00 UTC  owner of the database  keys.transfer  …${key.slice(-5)} Société de l…`,
      `2026-11-21 12:00 UTC  owner of the database  keys.revoke    …${key.slice(-5)} Société de l…`,
      '',
    ].join('\n'),
  );
});

it('shows from what to what a key was changed, in as many lines as that takes', async () => {
  const { at, key } = await furnish();
  const { stdout } = await at(`keys history ${key}`, { terminal: true });
  const lines = stdout.split('\n').map((line) => line.slice(22).replaceAll(/\s+/g, ' '));
  const text = lines.join(' ');
  expect(text).toMatch(/license\.renewed 2027-01-31 .*→ .*2028-01-31/);
  expect(text).toContain('Étienne');
  expect(text).toMatch(/license\.revoked refund of .*order .*1042/);
  expect(Math.max(...stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
});

it('shows whose session it is, and the end of its key', async () => {
  const { at, key } = await furnish();
  const { stdout, stderr } = await at('sessions list', { terminal: true });
  expect(stdout).toMatch(new RegExp(` pc-1 +karl +…${key.slice(-5)} +Société`));
  expect(stderr).not.toContain('licenseKey');
  expect((await at('sessions list --json')).stdout).toContain(key);
});
