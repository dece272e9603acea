import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openShop } from './shop.ts';

/** A shop with a customer and a key, and command lines that run with a token of a role. */
async function openShopFor(role: string) {
  const shop = await openShop();
  const { cwd, names, answer, at } = shop;
  await answer('customers create --name Ada --email it@ada.example');
  names.KEY = await answer('keys create --customer Ada');
  const created = await at(`tokens create --role ${role} --name ${role}`);
  writeFileSync(join(cwd, 'token'), created.stdout, { mode: 0o600 });
  return { ...shop, created, as: (line: string) => at(`${line} --token-file token`) };
}

describe('a token by role', () => {
  it.each<[role: string, does: readonly string[], refused: readonly string[]]>([
    [
      'ci',
      [
        'keys create -P Engine --reference 1001 --if-absent --new-customer-name Bob',
        'keys create --customer Ada',
        'keys renew KEY --for 1y',
        'keys get KEY',
      ],
      ['keys activate KEY --host-id h', 'products create --name Other', 'customers delete Ada --yes', 'audit list'],
    ],
    [
      'support',
      [
        'customers get it@ada.example',
        'keys list --customer Ada',
        'keys activate KEY --host-id h',
        'keys why KEY --host-id h',
        'keys sign KEY --host-id h --ttl 1d',
        'keys deactivate KEY --host-id h',
        'keys block KEY',
        'keys unblock KEY',
        'keys history KEY',
        'keys reissue KEY',
        'customers update Ada --email ada@ada.example',
        'stats',
      ],
      ['products create --name Other', 'tokens list', 'customers delete Ada --yes'],
    ],
    [
      'sales',
      [
        'products create --name Other',
        'plans create --name Year --lasts 1y',
        'keys create --plan Year --customer Ada',
        'keys list --fields key,customerId',
        'customers update Ada --inactive',
      ],
      ['keys activate KEY --host-id h', 'tokens create --kind admin --name x'],
    ],
    ['app', ['keys activate KEY --host-id h', 'keys deactivate KEY --host-id h'], ['keys list', 'keys block KEY']],
    [
      'auditor',
      [
        'keys list',
        'customers list',
        'products list',
        'events list',
        'audit list',
        'tokens list',
        'webhooks list',
        'stats',
      ],
      ['keys block KEY', 'customers create --name Bob', 'tokens create --kind admin --name x'],
    ],
  ])('of %s does its work and no more', async (role, does, refused) => {
    const { as } = await openShopFor(role);
    for (const line of does) expect({ line, ...(await as(line)) }).toMatchObject({ line, code: 0 });
    for (const line of refused) expect({ line, ...(await as(line)) }).toMatchObject({ line, code: 5 });
  });

  it('says what it may do, and goes with --scope and not with --kind', async () => {
    const { created, at, json } = await openShopFor('ci');
    expect(created.stderr).toContain(
      '\nit issues and changes keys for orders; sees keys masked, but for those it issues: license:read, license:write,',
    );
    expect(created.stderr).toContain(' · scoped · expires ');
    await at('tokens create --role ci --scope audit:read --name more');
    expect((await json('tokens list')).find(({ name }: { name: string }) => name === 'more').scopes).toContain(
      'audit:read',
    );
    expect(await at('tokens create --role ci --kind admin --name x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("error: option '--role ROLE' cannot be used with option '--kind KIND'\n"),
    });
    expect((await at('tokens create --name x')).stderr).toMatch(/^error: --kind is required\n/);
  });
});

describe('a scope that is missing', () => {
  it('is told with those that the command can need, and a command that makes a token that works', async () => {
    const { as, at, cwd } = await openShopFor('auditor');
    const { code, stderr } = await as('keys renew KEY --for 1y');
    expect([code, stderr]).toEqual([5, expect.stringMatching(/^error: this token lacks license:write\n/)]);
    expect(stderr).toContain('\n  It may do: license:read, customer:read, product:read,');
    expect(stderr).toContain('\n  The command can need: license:write, license:read, product:read.\n');
    const [, line = ''] = /^ +lkm (tokens create .*) --token-file FILE$/m.exec(stderr) ?? [];
    expect(line).toBe('tokens create --role auditor --scope license:write --name auditor');
    writeFileSync(join(cwd, 'token'), (await at(line)).stdout);
    expect(await as('keys renew KEY --for 1y')).toMatchObject({ code: 0 });
  });

  it('stands in the help of the command', async () => {
    const { at } = await openShop();
    expect((await at('keys renew --help')).stdout).toMatch(
      /Scopes of the token\n {2}license:write +always\n {2}license:read +to find the product of a key\n {2}product:read +for a product by its name\n/,
    );
  });
});
