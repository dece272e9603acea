import { lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NOW } from './fake-io.ts';
import { openShop } from './shop.ts';

/** A shop with a floating key of two seats and one slot; `filed` is the session in `s.json`. */
async function floating() {
  const shop = await openShop();
  shop.names.KEY = await shop.answer('keys create --type floating --max-sessions 2 --max-activations 1');
  const filed = () => JSON.parse(readFileSync(join(shop.cwd, 's.json'), 'utf8'));
  return { ...shop, filed };
}

const MINUTE = 60_000;

describe('a session in a file', () => {
  it('is leased, prolonged again and again, and given back', async () => {
    const { cwd, names, at, answer, filed } = await floating();
    expect((await at('keys checkout KEY --json -o s.json')).code).toBe(0);
    const leased = filed();
    expect(leased).toMatchObject({
      licenseKey: names.KEY,
      nextNonce: expect.any(String),
      sessionSecret: expect.any(String),
    });

    const first = await at('keys heartbeat s.json', { now: NOW + 5 * MINUTE, terminal: { stdout: true } });
    expect(first).toEqual({
      code: 0,
      stdout: `session  ${leased.sessionId}\nexpires  2026-11-21 12:20 UTC (in 15 minutes)\n`,
      stderr: 'prolonged\n',
    });
    const prolonged = filed();
    expect({ ...leased, nextNonce: prolonged.nextNonce, expiresAt: '2026-11-21T12:20:00.000Z' }).toEqual(prolonged);
    expect(prolonged.nextNonce).not.toBe(leased.nextNonce);
    expect(statSync(join(cwd, 's.json')).mode & 0o777).toBe(0o600);

    expect((await at('keys heartbeat s.json', { now: NOW + 15 * MINUTE })).code).toBe(0);
    expect(await at('keys checkin s.json', { now: NOW + 20 * MINUTE })).toEqual({
      code: 0,
      stdout: '',
      stderr: `gave back ${leased.sessionId}\n`,
    });
    expect(await answer('sessions list')).toBe('');
  });

  it('may come through a pipe, and then prints the nonce of the next heartbeat', async () => {
    const { at, answer } = await floating();
    const stdin = await answer('keys checkout KEY --json');
    const { code, stdout } = await at('keys heartbeat - --json', { stdin });
    expect(code).toBe(0);
    const { nextNonce } = JSON.parse(stdout);
    expect((await at('keys checkin -', { stdin: JSON.stringify({ ...JSON.parse(stdin), nextNonce }) })).code).toBe(0);
  });

  it('behind a link is prolonged where it is', async () => {
    const { cwd, at, filed } = await floating();
    await at('keys checkout KEY --json -o s.json');
    symlinkSync('s.json', join(cwd, 'link.json'));
    const { nextNonce } = filed();
    expect((await at('keys heartbeat link.json')).code).toBe(0);
    expect(filed().nextNonce).not.toBe(nextNonce);
    expect(lstatSync(join(cwd, 'link.json')).isSymbolicLink()).toBe(true);
  });

  it('that has ended is refused with what to do', async () => {
    const { at } = await floating();
    await at('keys checkout KEY --json -o s.json');
    const { code, stderr } = await at('keys heartbeat s.json', { now: NOW + 15 * MINUTE });
    expect(code).toBe(6);
    expect(stderr).toContain('error: session not found or ended\n');
    expect(stderr).toContain('lkm sessions list');
  });

  it.each(['no', '{"sessionId":"ses_1"}'])('is refused before anything is sent where it is %s', async (content) => {
    const { cwd, at } = await floating();
    writeFileSync(join(cwd, 's.json'), content);
    const { code, stderr } = await at('keys heartbeat s.json');
    expect(code).toBe(13);
    expect(stderr).toBe('error: s.json holds no session\n  Make one:  lkm keys checkout KEY --json -o session.json\n');
  });
});

describe('sessions', () => {
  it('are listed of an account and of a key, shown with the key, and released', async () => {
    const { at, answer, names } = await floating();
    const other = await answer('keys create --type floating');
    const id = await answer('keys checkout KEY --host-id desk-7 --tag desk --user ada -q');
    const otherId = await answer(`keys checkout ${other} -q`);
    // Both began in one millisecond: either may come first.
    expect((await answer('sessions list -q')).split('\n').sort()).toEqual([id, otherId].sort());
    expect(await answer('sessions list --key KEY -q')).toBe(id);
    const table = [
      `ID                              HOST ID  TAG   USER  SINCE     EXPIRES`,
      `${id}  desk-7   desk  ada   just now  in 15 minutes`,
      '',
    ].join('\n');
    const terminal = { stdout: true };
    const [titles, one] = (await at('sessions list --key KEY', { terminal, columns: 160 })).stdout.split('\n');
    expect(titles).toMatch(/^ID +HOST ID +TAG +USER +SINCE +EXPIRES +KEY +CUSTOMER$/);
    expect(one).toMatch(new RegExp(`^${id} +desk-7 +desk +ada +just now +in 15 minutes +${names.KEY} +–$`));
    expect((await at('keys get KEY', { terminal, columns: 100 })).stdout).toContain(`\n\n${table}`);

    expect(await at(`sessions release ${id}`)).toEqual({ code: 0, stdout: '', stderr: `released ${id}\n` });
    expect(await answer('sessions list -q')).toBe(otherId);
    expect((await at(`sessions release ${id}`)).code).toBe(6);
  });
});

describe('devices', () => {
  it('are activated, moved and listed', async () => {
    const { at, answer } = await floating();
    expect((await at('keys activate KEY --host-id pc-1 --tag desk')).stderr).toBe(
      'activated pc-1 · 1 of 1 slots taken\n',
    );
    expect((await at('keys rebind KEY --host-id pc-1 --new-host-id pc-2')).stderr).toBe(
      'moved the slot of pc-1 to pc-2\n',
    );
    expect(await answer('devices list KEY -q')).toBe('pc-2');
    expect((await at('devices list KEY', { terminal: { stdout: true } })).stdout).toBe(
      'HOST ID  TAG   IP ADDRESS  ACTIVATED  LAST SEEN\npc-2     desk  127.0.0.1   just now   today\n',
    );
    const { code, stderr } = await at('keys activate KEY --host-id pc-1');
    expect(code).toBe(5);
    expect(stderr).toContain('error: activation limit reached\n');
  });
});

describe('keys why', () => {
  it('says rule by rule that a device may use the key, and takes no slot', async () => {
    const { at, answer } = await floating();
    expect(await at('keys why KEY --host-id pc-1', { terminal: true })).toEqual({
      code: 0,
      stdout: [
        '✓ revocation  The licence is not revoked.',
        '✓ enabled     The vendor has not disabled the licence.',
        '✓ term        The licence expires at 2026-12-21 12:00 UTC.',
        '✓ customer    The licence has no customer.',
        '✓ host        Any host may use the licence.',
        '✓ slot        0 of 1 slots are taken.',
        '',
      ].join('\n'),
      stderr: 'activate would work at 2026-11-21 12:00 UTC\n',
    });
    expect(await answer('keys get KEY --fields activations')).toBe('0');
  });

  it('says why not, and what would help, to be pasted', async () => {
    const { names, at } = await floating();
    await at('keys activate KEY --host-id pc-1');
    const { code, stdout, stderr } = await at('keys why KEY --host-id pc-2', { terminal: true });
    expect(code).toBe(1);
    expect(stdout.split('\n').at(-2)).toBe('✗ slot        1 of 1 slots are taken.');
    expect(stderr).toBe(
      [
        'activate would be refused at 2026-11-21 12:00 UTC',
        `  See its devices:  lkm devices list ${names.KEY}`,
        '  Free a slot:',
        `    lkm keys deactivate ${names.KEY} --host-id DEVICE`,
        '',
      ].join('\n'),
    );
  });

  it('advises nothing for a revoked key but another one', async () => {
    const { answer, at, product } = await floating();
    await answer('keys revoke KEY --yes');
    const { stderr } = await at('keys why KEY --host-id pc-2', { terminal: true });
    const [verdict, ...fixes] = stderr.trimEnd().split('\n');
    expect(verdict).toBe('activate would be refused at 2026-11-21 12:00 UTC');
    expect(fixes).toEqual(['  It stays revoked; issue another:', `    lkm keys create -P ${product}`]);
  });

  it('repeats no key where it may be logged, and names the command as it is typed here', async () => {
    const { names, at } = await floating();
    const env = { npm_command: 'exec' };
    const { stderr } = await at('keys why KEY --host-id pc-2 --action deactivate', { env });
    expect(stderr).not.toContain(names.KEY);
    expect(stderr).toContain('  npx --no-install lkm keys activate "$KEY" --host-id pc-2');
  });

  it('looks at another instant', async () => {
    const { at } = await floating();
    const stdout = 'licenseExpired\n';
    const line = 'keys why KEY --at 2026-12-21T12:00:00Z --action checkout -q';
    expect(await at(line)).toEqual({ code: 1, stdout, stderr: '' });
  });

  it('gives a program the answer of the service, and a pipe a line for each rule', async () => {
    const { answer } = await floating();
    const { allowed, action, rules } = JSON.parse(await answer('keys why KEY --json'));
    expect([allowed, action, rules.length]).toEqual([true, 'activate', 6]);
    expect((await answer('keys why KEY')).split('\n')[5]).toBe('slot\ttrue\t\t0 of 1 slots are taken.');
  });
});
