import { execFileSync, spawn } from 'node:child_process';
import { lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';

/** A database of its own with a floating key of two seats and one slot, and commands that run on it. */
async function shop() {
  const cwd = tempFolder();
  const env: Record<string, string> = { LKM_DB: 'lkm.db', NO_COLOR: '1' };
  const at = (argv: string[], more: Surroundings = {}) => lkm(argv, { cwd, ...more, env: { ...env, ...more.env } });
  const answer = async (...argv: string[]) => (await at(argv)).stdout.trimEnd();
  env.LKM_PRODUCT = await answer('products', 'create', '--name', 'Engine Pro', '-q', '--create');
  const limits = ['--type', 'floating', '--max-sessions', '2', '--max-activations', '1'];
  const key = await answer('keys', 'create', ...limits);
  const filed = () => JSON.parse(readFileSync(join(cwd, 's.json'), 'utf8'));
  return { cwd, at, answer, key, filed };
}

const MINUTE = 60_000;

describe('a session in a file', () => {
  it('is leased, prolonged again and again, and given back', async () => {
    const { cwd, at, answer, key, filed } = await shop();
    expect((await at(['keys', 'checkout', key, '--json', '-o', 's.json'])).code).toBe(0);
    const leased = filed();
    expect(leased).toMatchObject({ licenseKey: key, nextNonce: expect.any(String), sessionSecret: expect.any(String) });

    const first = await at(['keys', 'heartbeat', 's.json'], { now: NOW + 5 * MINUTE, terminal: { stdout: true } });
    expect(first).toEqual({
      code: 0,
      stdout: `session  ${leased.sessionId}\nexpires  2026-11-21 12:20 UTC (in 15 minutes)\n`,
      stderr: 'prolonged\n',
    });
    const prolonged = filed();
    expect({ ...leased, nextNonce: prolonged.nextNonce, expiresAt: '2026-11-21T12:20:00.000Z' }).toEqual(prolonged);
    expect(prolonged.nextNonce).not.toBe(leased.nextNonce);
    expect(statSync(join(cwd, 's.json')).mode & 0o777).toBe(0o600);

    expect((await at(['keys', 'heartbeat', 's.json'], { now: NOW + 15 * MINUTE })).code).toBe(0);
    expect(await at(['keys', 'checkin', 's.json'], { now: NOW + 20 * MINUTE })).toEqual({
      code: 0,
      stdout: '',
      stderr: `gave back ${leased.sessionId}\n`,
    });
    expect(await answer('sessions', 'list')).toBe('');
  });

  it('may come through a pipe, and then prints the nonce of the next heartbeat', async () => {
    const { at, answer, key } = await shop();
    const stdin = await answer('keys', 'checkout', key, '--json');
    const { code, stdout } = await at(['keys', 'heartbeat', '-', '--json'], { stdin });
    expect(code).toBe(0);
    const { nextNonce } = JSON.parse(stdout);
    expect(
      (await at(['keys', 'checkin', '-'], { stdin: JSON.stringify({ ...JSON.parse(stdin), nextNonce }) })).code,
    ).toBe(0);
  });

  it('may come through a pipe with a name, which nothing is written back to', async () => {
    const { cwd, at, key, filed } = await shop();
    await at(['keys', 'checkout', key, '--json', '-o', 's.json']);
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    const writer = spawn('sh', ['-c', 'cat s.json >pipe'], { cwd });
    const { code, stdout } = await at(['keys', 'heartbeat', 'pipe', '--json']);
    writer.kill();
    expect({ code, isNew: JSON.parse(stdout).nextNonce !== filed().nextNonce }).toEqual({ code: 0, isNew: true });
  });

  it('behind a link is prolonged where it is', async () => {
    const { cwd, at, key, filed } = await shop();
    await at(['keys', 'checkout', key, '--json', '-o', 's.json']);
    symlinkSync('s.json', join(cwd, 'link.json'));
    const { nextNonce } = filed();
    expect((await at(['keys', 'heartbeat', 'link.json'])).code).toBe(0);
    expect(filed().nextNonce).not.toBe(nextNonce);
    expect(lstatSync(join(cwd, 'link.json')).isSymbolicLink()).toBe(true);
  });

  it('that has ended is refused with what to do', async () => {
    const { at, key } = await shop();
    await at(['keys', 'checkout', key, '--json', '-o', 's.json']);
    const { code, stderr } = await at(['keys', 'heartbeat', 's.json'], { now: NOW + 15 * MINUTE });
    expect(code).toBe(6);
    expect(stderr).toContain('error: session not found or ended\n');
    expect(stderr).toContain('lkm sessions list');
  });

  it.each([
    ['is not JSON', 'no'],
    ['lacks a field', '{"sessionId":"ses_1"}'],
  ])('that %s is refused before anything is sent', async (_, content) => {
    const { cwd, at } = await shop();
    writeFileSync(join(cwd, 's.json'), content);
    const { code, stderr } = await at(['keys', 'heartbeat', 's.json']);
    expect(code).toBe(13);
    expect(stderr).toBe('error: s.json holds no session\n  Make one:  lkm keys checkout KEY --json -o session.json\n');
  });
});

describe('sessions', () => {
  it('are listed of an account and of a key, shown with the key, and released', async () => {
    const { at, answer, key } = await shop();
    const other = await answer('keys', 'create', '--type', 'floating');
    const id = await answer('keys', 'checkout', key, '--host-id', 'desk-7', '--tag', 'desk', '--user', 'ada', '-q');
    const otherId = await answer('keys', 'checkout', other, '-q');
    // Both began in one millisecond: either may come first.
    expect((await answer('sessions', 'list', '-q')).split('\n').sort()).toEqual([id, otherId].sort());
    expect(await answer('sessions', 'list', '--key', key, '-q')).toBe(id);
    const table = [
      `ID                              HOST ID  TAG   USER  SINCE     EXPIRES`,
      `${id}  desk-7   desk  ada   just now  in 15 minutes`,
      '',
    ].join('\n');
    const terminal = { stdout: true };
    expect((await at(['sessions', 'list', '--key', key], { terminal, columns: 100 })).stdout).toBe(table);
    expect((await at(['keys', 'get', key], { terminal, columns: 100 })).stdout).toContain(`\n\n${table}`);

    expect(await at(['sessions', 'release', id])).toEqual({ code: 0, stdout: '', stderr: `released ${id}\n` });
    expect(await answer('sessions', 'list', '-q')).toBe(otherId);
    expect((await at(['sessions', 'release', id])).code).toBe(6);
  });
});

describe('devices', () => {
  it('are activated, moved and listed', async () => {
    const { at, answer, key } = await shop();
    expect((await at(['keys', 'activate', key, '--host-id', 'pc-1', '--tag', 'desk'])).stderr).toBe(
      'activated pc-1 · 1 of 1 slots taken\n',
    );
    expect((await at(['keys', 'rebind', key, '--host-id', 'pc-1', '--new-host-id', 'pc-2'])).stderr).toBe(
      'moved the slot of pc-1 to pc-2\n',
    );
    expect(await answer('devices', 'list', key, '-q')).toBe('pc-2');
    expect((await at(['devices', 'list', key], { terminal: { stdout: true } })).stdout).toBe(
      'HOST ID  TAG   IP ADDRESS  ACTIVATED\npc-2     desk  127.0.0.1   just now\n',
    );
    const { code, stderr } = await at(['keys', 'activate', key, '--host-id', 'pc-1']);
    expect(code).toBe(5);
    expect(stderr).toContain('error: activation limit reached\n');
  });
});

describe('keys why', () => {
  it('says rule by rule that a device may use the key, and takes no slot', async () => {
    const { at, answer, key } = await shop();
    expect(await at(['keys', 'why', key, '--host-id', 'pc-1'], { terminal: true })).toEqual({
      code: 0,
      stdout: [
        '✓ enabled   The vendor has not disabled the licence.',
        '✓ term      The licence expires at 2026-12-21 12:00 UTC.',
        '✓ customer  The licence has no customer.',
        '✓ host      Any host may use the licence.',
        '✓ slot      0 of 1 slots are taken.',
        '',
      ].join('\n'),
      stderr: 'activate would work at 2026-11-21 12:00 UTC\n',
    });
    expect(await answer('keys', 'get', key, '--fields', 'activations')).toBe('0');
  });

  it('says why not, and what would help, to be pasted', async () => {
    const { at, key } = await shop();
    await at(['keys', 'activate', key, '--host-id', 'pc-1']);
    const product = (await at(['products', 'list', '-q'])).stdout.trimEnd();
    const { code, stdout, stderr } = await at(['keys', 'why', key, '--host-id', 'pc-2'], { terminal: true });
    expect(code).toBe(1);
    expect(stdout.split('\n').at(-2)).toBe('✗ slot      1 of 1 slots are taken.');
    expect(stderr).toBe(
      [
        'activate would be refused at 2026-11-21 12:00 UTC',
        `  See its devices:  lkm devices list ${key} -P ${product}`,
        `  Free a slot:      lkm keys deactivate ${key} -P ${product} --host-id HOST`,
        '',
      ].join('\n'),
    );
  });

  it('repeats no key where it may be logged, and names the command as it is typed here', async () => {
    const { at, key } = await shop();
    const env = { npm_command: 'exec' };
    const { stderr } = await at(['keys', 'why', key, '--host-id', 'pc-2', '--action', 'deactivate'], { env });
    expect(stderr).not.toContain(key);
    expect(stderr).toContain('  npx --no-install lkm keys activate "$KEY" -P prod_');
  });

  it('looks at another instant', async () => {
    const { at, key } = await shop();
    const argv = ['keys', 'why', key, '--at', '2026-12-21T12:00:00Z', '--action', 'checkout'];
    expect(await at([...argv, '-q'])).toEqual({ code: 1, stdout: 'licenseExpired\n', stderr: '' });
  });

  it('gives a program the answer of the service, and a pipe a line for each rule', async () => {
    const { answer, key } = await shop();
    const { allowed, action, rules } = JSON.parse(await answer('keys', 'why', key, '--json'));
    expect([allowed, action, rules.length]).toEqual([true, 'activate', 5]);
    expect((await answer('keys', 'why', key)).split('\n')[4]).toBe('slot\ttrue\t\t0 of 1 slots are taken.');
  });
});
