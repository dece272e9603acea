import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, person, type Surroundings, tempFolder } from './fake-io.ts';
import { refusal, type Scripted, scriptedService, self } from './scripted-service.ts';

const SHOP = 'https://shop.example';
const TOKEN = 'lkm_scoped_one';
const OTHER = 'lkm_scoped_other';
const refused = refusal(401, 1, 'Invalid access token');

/** A home in which commands run one after the other. */
function home() {
  const cwd = tempFolder();
  const file = join(cwd, '.config', 'lkm', 'config.json');
  const run = async (argv: readonly string[], more: Surroundings = {}, answers: Scripted[] = [self]) => {
    const { fetch, seen } = scriptedService(...answers);
    return { ...(await lkm(argv, { cwd, fetch, ...more })), seen };
  };
  return {
    file,
    run,
    login: (token: string, more: readonly string[] = [], answers?: Scripted[]) =>
      run(['login', '--base-url', SHOP, '--with-token', ...more], { stdin: `${token}\n` }, answers),
    config: () => JSON.parse(readFileSync(file, 'utf8')),
  };
}

describe('lkm auth login', () => {
  it('checks the token, stores it for its owner alone, and makes the profile the current one', async () => {
    const { login, config, file } = home();
    const { code, stdout, stderr, seen } = await login(TOKEN);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        `logged in to ${SHOP} as profile shop.example\n` +
        `its token is in ${file}, which only you can read: no keyring took it\n`,
    });
    expect(stdout).not.toContain(TOKEN);
    expect(seen.map(({ path, authorization }) => [path, authorization])).toEqual([['/token/self', `Bearer ${TOKEN}`]]);
    const profiles = { 'shop.example': { baseUrl: SHOP, token: TOKEN } };
    expect(config()).toEqual({ version: 1, currentProfile: 'shop.example', profiles });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('stores nothing when the service refuses the token', async () => {
    const { login, config } = home();
    const { code, stdout, stderr } = await login(TOKEN, [], [refused]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain(`${SHOP} refused this token; nothing was stored`);
    expect(stderr).not.toContain(TOKEN);
    expect(config).toThrow();
  });

  it('asks on a terminal, without showing what is typed, and says elsewhere how a token is given', async () => {
    const { run, config } = home();
    const asked: string[] = [];
    const answer = (text: string) => async (question: string) => {
      asked.push(question);
      return text;
    };
    const prompter = person({ type: answer(SHOP), secret: answer(TOKEN) });
    const { code, stdout, stderr } = await run(['auth', 'login'], { terminal: true, prompter }, [
      [200, { keys: [] }],
      self,
    ]);
    expect({ code, asked }).toEqual({ code: 0, asked: ['address of the service:', `token for ${SHOP}:`] });
    expect(stdout + stderr).not.toContain(TOKEN);
    expect(config().profiles['shop.example'].token).toBe(TOKEN);
    const inPipe = await run(['login', '--base-url', SHOP]);
    expect(inPipe.code).toBe(4);
    expect(inPipe.stderr).toContain(`lkm auth login --base-url ${SHOP} --with-token < FILE`);
  });

  it('tries the address before it asks for the token', async () => {
    const login = ['login', '--base-url', 'shop.example'];
    const refusedBy = await home().run(login, { terminal: true, prompter: person({}) }, [[200, '<html>']]);
    expect(refusedBy).toMatchObject({
      code: 10,
      stderr: expect.stringContaining('There is no lkm service at this address'),
    });
  });

  it('is the first hint of a command on a terminal without a service or a token', async () => {
    const { run } = home();
    expect((await run(['keys', 'list'], { terminal: true, env: { NO_COLOR: '1' } })).stderr).toMatch(
      /^error: there is no service to talk to\n {2}Log in: +lkm login --base-url URL\n/,
    );
    expect(
      (await run(['keys', 'list', '--base-url', 'shop.example'], { terminal: true, env: { NO_COLOR: '1' } })).stderr,
    ).toMatch(
      /^error: there is no token for https:\/\/shop.example\n {2}Log in: +lkm login --base-url https:\/\/shop.example\n/,
    );
  });

  it('replaces a token that works only with --yes, and a token that the service no longer knows without', async () => {
    const { login, config } = home();
    const stored = () => config().profiles['shop.example'].token;
    await login(TOKEN);
    const { code, stderr } = await login(OTHER);
    expect([code, stderr]).toEqual([3, expect.stringContaining('replacing the token of profile shop.example needs')]);
    expect(stored()).toBe(TOKEN);
    expect((await login(OTHER, ['--yes'])).code).toBe(0);
    expect(stored()).toBe(OTHER);
    expect((await login(TOKEN, [], [self, refused])).code).toBe(0);
    expect(stored()).toBe(TOKEN);
  });

  it('stores under the name of --profile, and refuses one of another service', async () => {
    const { login, run, config } = home();
    await login(TOKEN, ['-p', 'test']);
    const again = ['login', '-p', 'test', '--base-url', 'https://other.example', '--with-token'];
    const { code, stderr } = await run(again, { stdin: OTHER });
    expect([code, stderr]).toEqual([2, expect.stringContaining(`profile test is of another service, ${SHOP}`)]);
    expect(config().profiles).toEqual({ test: { baseUrl: SHOP, token: TOKEN } });
  });
});

describe('lkm auth status', () => {
  it('says who a command would be, at which service, and why', async () => {
    const { login, run } = home();
    await login(TOKEN);
    const { stdout, seen } = await run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ service: SHOP, profile: 'shop.example', tokenFrom: 'profile shop.example', id: 'tok_1', kind: 'scoped' },
      ...{ scopes: ['license:write'], expiresAt: '2027-01-01T00:00:00.000Z' },
    });
    expect(seen.map(({ authorization }) => authorization)).toEqual([`Bearer ${TOKEN}`]);
    const before = await run(['auth', 'status', '--json'], { env: { LKM_TOKEN: OTHER } });
    expect(JSON.parse(before.stdout).tokenFrom).toBe('LKM_TOKEN, which goes before profile shop.example');
    expect(before.seen[0]?.authorization).toBe(`Bearer ${OTHER}`);
    const { code, stderr } = await run(['whoami'], {}, [refused]);
    expect([code, stderr]).toEqual([4, expect.stringContaining('the token from profile shop.example')]);
  });

  it('shows the owner of a database', async () => {
    const { stdout } = await home().run(['whoami', '--db', 'lkm.db', '--create', '--json'], { fetch: undefined });
    const tokenFrom = 'none: whoever opens a database owns it';
    expect(JSON.parse(stdout)).toMatchObject({ profile: null, kind: 'admin', tokenFrom });
  });
});

describe('profiles', () => {
  it('are listed without their tokens, switched between and forgotten', async () => {
    const { login, run, config } = home();
    await login(TOKEN, ['-p', 'one']);
    await login(OTHER, ['-p', 'two']);
    expect(JSON.parse((await run(['auth', 'list', '--json'])).stdout)).toEqual([
      { name: 'one', baseUrl: SHOP, current: false, db: null },
      { name: 'two', baseUrl: SHOP, current: true, db: null },
    ]);
    expect((await run(['auth', 'switch', 'one'])).stderr).toBe(`profile one is the current one: ${SHOP}\n`);
    await login(TOKEN, ['-p', 'three']);
    expect((await run(['auth', 'switch'])).stderr).toContain('which profile?');
    const prompter = person({ choose: async () => 'one' });
    expect((await run(['auth', 'switch'], { terminal: true, prompter })).code).toBe(0);
    expect(config().currentProfile).toBe('one');
    const three = { env: { LKM_PROFILE: 'three' } };
    expect((await run(['logout'], three)).stderr).toContain(`forgot profile three of ${SHOP}`);
    expect((await run(['logout'])).stderr).toContain(`forgot profile one of ${SHOP}`);
    const profiles = { two: { baseUrl: SHOP, token: OTHER } };
    expect(config()).toEqual({ version: 1, currentProfile: null, profiles });
  });

  it.each(['switch', 'logout'])('are not made up by %s', async (verb) => {
    const { login, run } = home();
    await login(TOKEN);
    const { code, stderr } = await run(['auth', verb, 'nowhere']);
    expect([code, stderr]).toEqual([2, expect.stringContaining("no profile 'nowhere'\n  Stored: shop.example\n")]);
  });
});
