import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, NOW, tempFolder } from './fake-io.ts';
import { against, issued, listed, PRODUCT, remote } from './scripted-service.ts';
import { started } from './started.ts';

describe('a user without a home folder', () => {
  const home = null;

  it.each<[line: string, code: number, says: RegExp]>([
    ['serve --port 0', 13, /^error: .* set --db, LKM_DB or XDG_DATA_HOME, or HOME\n$/],
    [`config set product ${PRODUCT}`, 13, /^error: .* set LKM_CONFIG_DIR, or HOME\n$/],
    ['config path', 13, /^error: .* set LKM_CONFIG_DIR, or HOME\n$/],
    ['customers create --name Ada', 13, /^error: .* set LKM_STATE_DIR, or HOME\n$/],
    ['customers create --name Ada --idempotency-key k1 --max-retries 0', 8, /^error: .*may have been made/],
    ['customers list', 0, /^no customers yet/],
    ['auth list', 0, /no profiles yet/],
    ['--version', 0, /^$/],
    ['--help', 0, /^$/],
    ['keys create --help', 0, /^$/],
  ])('with %s ends with %i, in one line that names what to set', async (line, code, says) => {
    const cwd = tempFolder();
    const answers = line.startsWith('customers list') ? [listed([])] : [[500, 'lost'] as const];
    const ran = await against(line, answers, { home, cwd });
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code, stderr: expect.stringMatching(says) });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it.each([
    ['folders of lkm', (folder: string) => ({ LKM_CONFIG_DIR: folder, LKM_STATE_DIR: folder })],
    ['those of XDG', (folder: string) => ({ XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder, XDG_DATA_HOME: folder })],
  ])('does with %s all that others do', async (_, named) => {
    const env = named(tempFolder());
    expect((await lkm(['config', 'set', 'product', PRODUCT], { home, env })).code).toBe(0);
    const made = await against('keys create', [issued], { home, env });
    expect([made.code, made.seen[0]?.body]).toEqual([0, expect.objectContaining({ productId: PRODUCT })]);
  });

  it('serves a database that is named, and keeps no profile of it', async () => {
    const cwd = tempFolder();
    const { printed, stop } = await started(['--db', 'lkm.db'], { cwd, home });
    expect(await stop()).toBe(0);
    expect(printed.stderr).toMatch(/profile {3}none: there is no folder for the configuration/);
  });
});

describe('doctor', () => {
  const checks = async (surroundings: Parameters<typeof lkm>[1]) => {
    const { stdout } = await lkm(['doctor', '--json'], surroundings);
    const found: { check: string; status: string; detail: string; advice: string }[] = JSON.parse(stdout).checks;
    return Object.fromEntries(found.map(({ check, ...rest }) => [check, rest]));
  };

  it('fails where a change would, for a state that cannot be written, and makes no folder', async () => {
    const folder = tempFolder();
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const open = join(folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    for (const [state, home] of [
      [undefined, null],
      [join(file, 'state'), folder],
      [open, folder],
      [join(folder, 'later', 'on'), folder],
    ] as const) {
      const surroundings = { home, env: { ...remote, ...(state && { LKM_STATE_DIR: state }) }, now: NOW };
      const found = await checks(surroundings);
      expect(existsSync(join(folder, 'later'))).toBe(false);
      const { code } = await against('customers create --name Ada', [[200, {}]], surroundings);
      expect([state, found.state?.status]).toEqual([state, code === 13 ? 'fail' : 'ok']);
      if (code === 13) expect(`${found.state?.detail} ${found.state?.advice}`).toMatch(/LKM_STATE_DIR|chmod go-w/);
    }
  });

  it('fails for a state that is damaged', async () => {
    const state = join(tempFolder(), 'state');
    mkdirSync(join(state, 'pending'), { recursive: true, mode: 0o700 });
    writeFileSync(join(state, 'pending/0.json'), 'no change at all', { mode: 0o600 });
    expect((await checks({ env: { LKM_STATE_DIR: state } })).state).toMatchObject({ status: 'fail' });
  });
});
