import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

describe('lkm quickstart', () => {
  it('tells the whole tour within 80 columns', async () => {
    const cwd = tempFolder();
    const { code, stdout, stderr } = await lkm(['quickstart'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.replaceAll(cwd, '/tmp').split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(/\n {6}ok\n/);
    expect(stdout).toMatch(/\n {6}machine_mismatch\n/);
    expect(stdout).toMatch(/\n {6}freed build-01\n/);
  });

  it('is one object with --json', async () => {
    const { stdout } = await lkm(['quickstart', '--json']);
    expect(JSON.parse(stdout)).toEqual({
      db: expect.stringContaining('lkm.db'),
      product: expect.objectContaining({ name: 'Engine Pro', active: true }),
      customer: expect.objectContaining({ name: 'Ada Ltd' }),
      key: expect.stringMatching(/^[0-9A-Z]{5}(-[0-9A-Z]{5}){4}$/),
      file: expect.stringContaining('build-01.lic'),
      verdicts: { 'build-01': 'ok', 'laptop-9': 'machine_mismatch' },
    });
  });

  it('can be taken again, on the same database', async () => {
    const cwd = tempFolder();
    const first = await lkm(['quickstart', '--db', 'lkm.db'], { cwd });
    const second = await lkm(['quickstart', '--db', 'lkm.db'], { cwd });
    expect([first.code, second.code, second.stderr]).toEqual([0, 0, '']);
    expect((await lkm(['products', 'list', '-q', '--db', 'lkm.db'], { cwd })).stdout.trim().split('\n')).toHaveLength(
      2,
    );
  });
});
