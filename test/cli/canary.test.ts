import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { leaves } from '../../src/cli/tree.ts';
import { mintToken } from '../../src/domain/token.ts';
import { lkm, tempFolder } from './fake-io.ts';

const EMAIL = 'canary-4b1d@example.com';
const MASTER = Buffer.alloc(32, 9).toString('base64');

it('no command writes a secret to stderr, not even with --debug', async () => {
  const cwd = tempFolder();
  const env = { LKM_MASTER_KEY: MASTER, LKM_DB: 'lkm.db' };
  let stderr = '';
  const at = async (...words: string[]) => {
    const ran = await lkm([...words, '--debug'], { cwd, env });
    stderr += `$ lkm ${words[0]} ${words[1]}\n${ran.stderr}`;
    return ran.stdout.trim();
  };
  const product = await at('products', 'create', '--name', 'Editor', '--create', '-q');
  const customer = await at('customers', 'create', '--name', 'Zoë', '--email', EMAIL, '-q');
  const key = await at('keys', 'create', '-P', product, '--customer', customer, '--type', 'floating');
  const token = await at('tokens', 'create', '--kind', 'admin', '--name', 'ci');
  const tokenId = JSON.parse(await at('tokens', 'list', '--json'))[0].id;
  const rotated = await at('tokens', 'rotate', tokenId);
  const file = await at('keys', 'sign', key, '-P', product, '--host-id', 'h', '-o', '-');
  const session = JSON.parse(await at('keys', 'checkout', key, '-P', product, '--json'));
  for (const words of [
    ['tokens', 'show', tokenId],
    ['keys', 'get', key, '-P', product],
    ['keys', 'list'],
    ['keys', 'why', key, '-P', product, '--host-id', 'h'],
    ['keys', 'activate', key, '-P', product, '--host-id', 'h2'],
    ['keys', 'history', key, '-P', product],
    ['customers', 'list'],
    ['customers', 'get', EMAIL],
    ['events', 'list'],
    ['audit', 'list'],
    ['audit', 'verify'],
    ['stats'],
    ['sessions', 'list'],
    ['signing-keys', 'list'],
    ['signing-keys', 'rotate', '--yes'],
    ['tokens', 'revoke', tokenId, '--yes'],
    ['tokens', 'create', '--kind', 'scoped', '--name', 'x'],
    ['keys', 'get', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, '-P', product],
    ['db', 'status'],
    ['db', 'rekey', '--plain'],
  ]) {
    await at(...words);
  }
  // Through a server, with a token that it refuses, and with no server at all.
  const stolen = mintToken('admin', new Uint8Array(32).fill(3));
  writeFileSync(join(cwd, 'token'), stolen, { mode: 0o600 });
  for (const base of ['http://127.0.0.1:9', 'https://licences.invalid']) {
    const words = [
      'keys',
      'get',
      key,
      '-P',
      product,
      '--base-url',
      base,
      '--token-file',
      'token',
      '--max-retries',
      '0',
    ];
    stderr += (await lkm([...words, '--debug'], { cwd })).stderr;
  }
  expect([product, customer, key, token, rotated, file].every((text) => text.length > 20)).toBe(true);
  expect(stderr.length).toBeGreaterThan(1_000);
  const secrets = { MASTER, token, rotated, stolen, secret: session.sessionSecret, nonce: session.nextNonce };
  const hits = Object.entries({ ...secrets, file: file.slice(40, 90) }).filter(([, text]) => stderr.includes(text));
  expect(hits).toEqual([]);
  expect(stderr).not.toContain('PRIVATE KEY');
}, 60_000);

it('no command takes a token, a master key or a passphrase on its command line', async () => {
  const flags: string[] = [];
  for (const leaf of leaves)
    flags.push(
      ...JSON.stringify((await leaf.load()).options)
        .matchAll(/--[a-z-]+[^",]*/g)
        .map(String),
    );
  expect(flags).toContain('--network <CIDR>');
  expect(flags.filter((flag) => /^--(token|api-key|passphrase|secret|master-key|password)[ =]/.test(flag))).toEqual([]);
});
