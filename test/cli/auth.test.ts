import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Prompter } from '../../src/cli/prompts/prompt.ts';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';
import { refusal, type Scripted, scriptedService } from './scripted-service.ts';

const SHOP = 'https://shop.example';
const TOKEN = 'lkm_scoped_one';
const OTHER = 'lkm_scoped_other';

const self: Scripted = [
  200,
  {
    action: 'tokens.self',
    status: true,
    data: {
      id: 'tok_1',
      name: 'shop',
      kind: 'scoped',
      scopes: ['license:write'],
      productIds: null,
      maxIssues: null,
      issued: null,
      expiresAt: '2027-01-01T00:00:00.000Z',
      revokedAt: null,
      createdAt: '2026-11-21T10:00:00.000Z',
    },
    code: 0,
  },
];
const refused = refusal(401, 1, 'Invalid access token');

/** A home in which commands run one after the other. */
function home() {
  const cwd = tempFolder();
  const file = join(cwd, '.config', 'lkm', 'config.json');
  return {
    file,
    run: (argv: readonly string[], more: Surroundings = {}) => lkm(argv, { cwd, ...more }),
    login: (token: string, more: readonly string[] = [], answers: Scripted[] = [self]) => {
      const { fetch, seen } = scriptedService(...answers);
      return lkm(['login', '--base-url', SHOP, '--with-token', ...more], { cwd, stdin: `${token}\n`, fetch }).then(
        (ran) => ({ ...ran, seen }),
      );
    },
    config: () => JSON.parse(readFileSync(file, 'utf8')),
    mode: () => statSync(file).mode & 0o777,
  };
}

describe('lkm auth login', () => {
  it('checks the token, stores it for its owner alone, and makes the profile the current one', async () => {
    const { login, config, mode, file } = home();
    const { code, stdout, stderr, seen } = await login(TOKEN);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        `logged in to ${SHOP} as profile shop.example\n` +
        `its token is in ${file}, which only you can read: no keyring took it\n`,
    });
    expect(stdout).not.toContain(TOKEN);
    expect(seen.map(({ path, authorization }) => [path, authorization])).toEqual([['/token/self', `Bearer ${TOKEN}`]]);
    expect(config()).toEqual({
      version: 1,
      currentProfile: 'shop.example',
      profiles: { 'shop.example': { baseUrl: SHOP, token: TOKEN } },
    });
    expect(mode()).toBe(0o600);
  });

  it('takes an empty LKM_PROFILE for none, and any text for a name', async () => {
    const { login, run, config } = home();
    await login(TOKEN);
    const again = (argv: readonly string[], env = {}) => {
      const { fetch } = scriptedService(self);
      return run([...argv, '--with-token'], { stdin: `${TOKEN}\n`, fetch, env });
    };
    expect((await again(['login'], { LKM_PROFILE: '' })).code).toBe(0);
    expect((await again(['login', '-p', 'constructor'])).stderr).toContain('Its address is not given');
    expect((await again(['login', '-p', 'constructor', '--base-url', SHOP])).code).toBe(0);
    expect(Object.keys(config().profiles)).toContain('constructor');
    const { code, stderr } = await run(['auth', 'status', '-p', 'toString']);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("no profile 'toString'") });
  });

  it('stores nothing when the service refuses the token', async () => {
    const { login, config } = home();
    const { code, stdout, stderr } = await login(TOKEN, [], [refused]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain(`${SHOP} refused this token; nothing was stored`);
    expect(stderr).not.toContain(TOKEN);
    expect(config).toThrow();
  });

  it('asks on a terminal, without showing what is typed', async () => {
    const { run, config } = home();
    const asked: string[] = [];
    const prompter: Prompter = {
      confirm: async () => false,
      choose: async () => '',
      search: async () => '',
      type: async (question) => {
        asked.push(question);
        return SHOP;
      },
      secret: async (question) => {
        asked.push(question);
        return TOKEN;
      },
    };
    const { fetch } = scriptedService(self);
    const { code, stdout, stderr } = await run(['auth', 'login'], { terminal: true, prompter, fetch });
    expect(code).toBe(0);
    expect(asked).toEqual(['address of the service:', `token for ${SHOP}:`]);
    expect(stdout + stderr).not.toContain(TOKEN);
    expect(config().profiles['shop.example'].token).toBe(TOKEN);
  });

  it('says how a token is given where nothing can be asked', async () => {
    const { run } = home();
    const { code, stderr } = await run(['login', '--base-url', SHOP]);
    expect(code).toBe(4);
    expect(stderr).toContain(`lkm auth login --base-url ${SHOP} --with-token < FILE`);
  });

  it('never replaces a token that still works without consent', async () => {
    const { login, config } = home();
    await login(TOKEN);
    const { code, stderr } = await login(OTHER);
    expect(code).toBe(3);
    expect(stderr).toContain('replacing the token of profile shop.example needs confirmation');
    expect(config().profiles['shop.example'].token).toBe(TOKEN);
    expect((await login(OTHER, ['--yes'])).code).toBe(0);
    expect(config().profiles['shop.example'].token).toBe(OTHER);
  });

  it('replaces a token that the service no longer knows', async () => {
    const { login, config } = home();
    await login(TOKEN);
    expect((await login(OTHER, [], [self, refused])).code).toBe(0);
    expect(config().profiles['shop.example'].token).toBe(OTHER);
  });

  it('stores under the name of --profile, and refuses one of another service', async () => {
    const { login, run, config } = home();
    await login(TOKEN, ['-p', 'test']);
    const { fetch } = scriptedService(self);
    const again = ['login', '-p', 'test', '--base-url', 'https://other.example', '--with-token'];
    const { code, stderr } = await run(again, { stdin: OTHER, fetch });
    expect(code).toBe(2);
    expect(stderr).toContain(`profile test is of another service, ${SHOP}`);
    expect(config().profiles).toEqual({ test: { baseUrl: SHOP, token: TOKEN } });
  });

  it('warns of variables that go before the profile', async () => {
    const { run } = home();
    const { fetch } = scriptedService(self);
    const env = { LKM_BASE_URL: SHOP, LKM_TOKEN: OTHER };
    const { stderr } = await run(['login', '--with-token'], { stdin: TOKEN, fetch, env });
    expect(stderr).toContain('LKM_BASE_URL and LKM_TOKEN in the environment go before this profile');
  });

  it('is not for a database', async () => {
    const { run } = home();
    const { code, stderr } = await run(['login', '--db', 'lkm.db', '--with-token'], { stdin: TOKEN });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--db needs no login') });
  });
});

describe('lkm auth status', () => {
  it('says who a command would be, at which service, and why', async () => {
    const { login, run } = home();
    await login(TOKEN);
    const { fetch, seen } = scriptedService(self);
    const { stdout } = await run(['whoami', '--json'], { fetch });
    expect(JSON.parse(stdout)).toMatchObject({
      service: SHOP,
      profile: 'shop.example',
      tokenFrom: 'profile shop.example',
      id: 'tok_1',
      kind: 'scoped',
      scopes: ['license:write'],
      expiresAt: '2027-01-01T00:00:00.000Z',
    });
    expect(seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${TOKEN}`]);
  });

  it('names what goes before the profile', async () => {
    const { login, run } = home();
    await login(TOKEN);
    const { fetch, seen } = scriptedService(self);
    const { stdout } = await run(['auth', 'status', '--json'], { fetch, env: { LKM_TOKEN: OTHER } });
    expect(JSON.parse(stdout).tokenFrom).toBe('LKM_TOKEN, which goes before profile shop.example');
    expect(seen[0]?.authorization).toBe(`Bearer ${OTHER}`);
  });

  it('shows the owner of a database', async () => {
    const { run } = home();
    const { code, stdout } = await run(['whoami', '--db', 'lkm.db', '--create', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      profile: null,
      kind: 'admin',
      tokenFrom: 'none: whoever opens a database owns it',
    });
  });

  it('ends with 4 when the service refuses the token', async () => {
    const { login, run } = home();
    await login(TOKEN);
    const { fetch } = scriptedService(refused);
    const { code, stderr } = await run(['whoami'], { fetch });
    expect(code).toBe(4);
    expect(stderr).toContain('the service refused the token from profile shop.example');
  });
});

describe('profiles', () => {
  it('are listed without their tokens, switched between and forgotten', async () => {
    const { login, run, config } = home();
    await login(TOKEN, ['-p', 'one']);
    await login(OTHER, ['-p', 'two']);
    const listed = await run(['auth', 'list', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual([
      { name: 'one', baseUrl: SHOP, current: false, db: null },
      { name: 'two', baseUrl: SHOP, current: true, db: null },
    ]);
    expect((await run(['auth', 'switch', 'one'])).stderr).toBe(`profile one is the current one: ${SHOP}\n`);
    expect(config().currentProfile).toBe('one');
    await login(TOKEN, ['-p', 'three']);
    await run(['auth', 'switch', 'one']);
    const three = { env: { LKM_PROFILE: 'three' } };
    expect((await run(['logout'], three)).stderr).toContain(`forgot profile three of ${SHOP}`);
    expect((await run(['logout'])).stderr).toContain(`forgot profile one of ${SHOP}`);
    expect(config()).toEqual({
      version: 1,
      currentProfile: null,
      profiles: { two: { baseUrl: SHOP, token: OTHER } },
    });
  });

  it('are picked on a terminal, and named where nothing can be asked', async () => {
    const { login, run, config } = home();
    await login(TOKEN, ['-p', 'one']);
    await login(OTHER, ['-p', 'two']);
    const refusedToAsk = await run(['auth', 'switch']);
    expect(refusedToAsk).toMatchObject({ code: 2, stderr: expect.stringContaining('which profile?') });
    const never = async () => '';
    const prompter: Prompter = {
      confirm: async () => false,
      type: never,
      secret: never,
      choose: async () => 'one',
      search: never,
    };
    expect((await run(['auth', 'switch'], { terminal: true, prompter })).code).toBe(0);
    expect(config().currentProfile).toBe('one');
  });

  it.each([
    ['switch', 'nowhere'],
    ['logout', 'nowhere'],
  ])('are not made up by %s', async (verb, name) => {
    const { login, run } = home();
    await login(TOKEN);
    const { code, stderr } = await run(['auth', verb, name]);
    expect(code).toBe(2);
    expect(stderr).toContain("there is no profile 'nowhere'\n  Stored: shop.example\n");
  });
});
