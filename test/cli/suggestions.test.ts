import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asTyped } from '../../src/cli/output/terminal.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { lkm, tempFolder } from './fake-io.ts';
import { against, listed, PRODUCT, refusal, scriptedService } from './scripted-service.ts';

const throughNpx = { npm_command: 'exec' };

describe('a command that runs through npx', () => {
  it('shows it in the line that repeats it, and in what helps', async () => {
    const create = `keys create -P ${PRODUCT} --max-retries 0`;
    const prefix = 'npx --no-install lkm';
    for (const [line, answer, says] of [
      [create, refusal(500, 1, 'Server error'), `    ${prefix} keys create -P ${PRODUCT} --max`],
      [create, refusal(404, 1, 'Product not found or inactive'), `  See them:    ${prefix} products list\n`],
      ['customers list', listed([]), `no customers yet; ${prefix} customers create makes one\n`],
    ] as const) {
      expect((await against(line, [answer], { env: throughNpx })).stderr).toContain(says);
    }
    expect((await lkm(['customers', 'list'], { env: throughNpx })).stderr).toContain(
      `See it work:  ${prefix} quickstart`,
    );
  });

  it('is shown without --no-install where npx has fetched it', () => {
    const fromCache = { npm_command: 'exec', PATH: '/home/ada/.npm/_npx/3f1c/node_modules/.bin:/usr/bin' };
    expect(asTyped('try it: lkm quickstart', fromCache)).toBe('try it: npx lkm quickstart');
  });

  it.each(commandEntries)('knows lkm $path in a text', ({ path }) => {
    expect(asTyped(`try it: lkm ${path} --json`, throughNpx)).toBe(`try it: npx --no-install lkm ${path} --json`);
  });

  it.each(['a newer lkm has changed it', '/tmp/lkm keys', 'update lkm.', 'ada@lkm-keys.example'])(
    'leaves %s as it is',
    (text) => {
      expect(asTyped(text, throughNpx)).toBe(text);
    },
  );
});

describe('a command that is suggested', () => {
  it('goes to the database that was named on the command line', async () => {
    const cwd = tempFolder();
    const on = ['--db', 'my keys.db'];
    await lkm(['products', 'create', '--name', 'Engine', '--create', ...on], { cwd });
    expect((await lkm(['keys', 'create', '-P', 'Viewer', ...on], { cwd })).stderr).toContain(
      "  See them:  lkm --db 'my keys.db' products list\n",
    );
    expect((await lkm(['customers', 'list', ...on], { cwd })).stderr).toBe(
      "no customers yet; lkm --db 'my keys.db' customers create makes one\n",
    );
    expect((await lkm(['auth', 'status', ...on], { cwd })).stderr).not.toContain('lkm --db');
  });

  it('goes to the service and has the token of the command line, unless the token is what is missing', async () => {
    const cwd = tempFolder();
    writeFileSync(join(cwd, 'token'), 'lkm_token', { mode: 0o600 });
    const on = ['--base-url', 'https://lkm.example', '--token-file', 'token'];
    const run = async (response: ReturnType<typeof refusal>, ...words: readonly string[]) => {
      const { fetch } = scriptedService(response);
      return (await lkm([...words, ...on], { cwd, fetch })).stderr;
    };
    expect(await run(refusal(404, 1, 'Product not found'), 'products', 'get', PRODUCT)).toContain(
      'lkm --base-url https://lkm.example --token-file token products list\n',
    );
    expect(await run(refusal(403, 1, 'Scope missing'), 'products', 'list')).toContain(
      'lkm --base-url https://lkm.example tokens create --kind scoped --scope product:read --name NAME --token-file FILE\n',
    );
    const repeated = await run(refusal(500, 1, 'Server error'), 'keys', 'create', '-P', PRODUCT, '--max-retries', '0');
    expect(repeated.match(/--base-url/g)).toHaveLength(1);
  });

  it('has no option that it does not take', () => {
    const service = [['--base-url', 'https://lkm.example']] as const;
    const database = [['--db', 'lkm.db']] as const;
    expect(asTyped('lkm db status', {}, service)).toBe('lkm db status');
    expect(asTyped('lkm db status', {}, database)).toBe('lkm --db lkm.db db status');
    for (const local of ['lkm auth list', 'lkm explain E1']) {
      expect(asTyped(local, {}, service)).toBe(local);
    }
    expect(asTyped('lkm keys list -p shop', {}, [['--profile', 'shop']])).toBe('lkm keys list -p shop');
    const ofDatabase = 'a new one: lkm tokens create --name NAME --db lkm.db';
    expect(asTyped(ofDatabase, {}, [['--profile', 'shop']])).toBe(ofDatabase);
  });

  it.each([
    ['--db', 'postgres://lkm:hidden@db.example/lkm'],
    ['--db', 'postgres://db.example/lkm?password=hidden'],
    ['--base-url', 'https://lkm:hidden@lkm.example'],
    ['--base-url', 'https://lkm.example?token=hidden'],
    ['--base-url', 'https://lkm.example#hidden'],
  ])('never shows the secret in %s %s', async (option, value) => {
    const { stderr } = await lkm(['keys', 'heartbeat', 'ses_1', option, value, '--token-file', 'token'], {});
    expect(stderr).toContain('  To end it by its id:  lkm sessions release ses_1\n');
    expect(stderr).not.toContain('hidden');
  });
});
