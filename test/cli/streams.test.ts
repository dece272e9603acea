import { describe, expect, it } from 'vitest';
import { lkm } from './fake-io.ts';
import { customer, issued, KEY, listed, PRODUCT, remote, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT];
const ada = customer('cus_1', 'Ada Ltd', 'it@ada.example');

describe('stdout', () => {
  it.each([true, false])('carries one value as it is, terminal or not (%s)', async (terminal) => {
    const { fetch } = scriptedService(issued);
    expect((await lkm(create, { fetch, env: remote, terminal })).stdout).toBe(`${KEY}\n`);
  });

  it('has a table on a terminal and tab-separated values in a pipe', async () => {
    const { fetch } = scriptedService(listed([ada]));
    const list = ['customers', 'list', '--fields', 'id,createdAt'];
    expect((await lkm(list, { fetch, env: remote, terminal: true })).stdout).not.toContain('\t');
    expect((await lkm(list, { fetch, env: remote })).stdout).toBe('cus_1\t2026-08-14T09:12:44.031Z\n');
  });

  it('has colours only on a terminal, or when they are asked for', async () => {
    const colored = async (argv: string[], terminal: boolean, env: Record<string, string> = {}) => {
      const { fetch } = scriptedService(listed([ada]));
      const ran = await lkm(['customers', 'list', '--format', 'table', ...argv], {
        fetch,
        terminal,
        env: { ...remote, ...env },
      });
      return ran.stdout.includes('\u001b[');
    };
    expect(await colored([], true)).toBe(true);
    expect(await colored([], false)).toBe(false);
    expect(await colored(['--no-color'], true)).toBe(false);
    expect(await colored(['--color', 'always'], false)).toBe(true);
    expect(await colored([], true, { NO_COLOR: '1' })).toBe(false);
    expect(await colored([], false, { FORCE_COLOR: '1' })).toBe(true);
    expect(await colored([], true, { TERM: 'dumb' })).toBe(false);
  });

  it('is empty for an empty list, which is a success', async () => {
    const { fetch } = scriptedService(listed([]));
    expect(await lkm(['customers', 'list'], { fetch, env: remote })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no customers yet; lkm customers create makes one\n',
    });
  });
});

describe('stderr', () => {
  it('says what was done, and that the service sets one month', async () => {
    const { fetch } = scriptedService(issued);
    expect((await lkm(create, { fetch, env: remote })).stderr).toBe(
      'created · unlimited activations\nno --expires given: the service sets one month, to 2026-12-21 12:00 UTC\n',
    );
  });

  it('says which moment a day stands for', async () => {
    const { fetch, seen } = scriptedService(issued);
    const { stderr } = await lkm([...create, '--expires', '2027-12-31'], { fetch, env: remote });
    expect(stderr).toBe('created · unlimited activations · expires 2027-12-31 23:59 UTC\n');
    expect(seen[0]?.body).toEqual({ productId: PRODUCT, expiryDate: '2027-12-31T23:59:59.000Z' });
  });

  it.each(['1y', '364d', '2027-11-21'])(
    'says that %s lasts to the end of its day, and sends the same all day',
    async (when) => {
      const { fetch, seen } = scriptedService(issued);
      const at = (now: string) =>
        lkm([...create, '--expires', when], { fetch, env: remote, now: Date.parse(`2026-11-21T${now}Z`) });
      const morning = await at('00:00:00');
      await at('23:59:59');
      const day = when === '364d' ? '2027-11-20' : '2027-11-21';
      expect(morning.stderr).toBe(`created · unlimited activations · expires ${day} 23:59 UTC\n`);
      expect(seen.map(({ body }) => body)).toEqual(
        Array(2).fill({ productId: PRODUCT, expiryDate: `${day}T23:59:59.000Z` }),
      );
    },
  );

  it.each([['-q'], ['--json'], ['--format=jsonl']])('says nothing with %s', async (option) => {
    const { fetch } = scriptedService(issued);
    expect((await lkm([...create, option], { fetch, env: remote })).stderr).toBe('');
  });

  it('has a line for every request with -v, without a secret', async () => {
    const { fetch } = scriptedService([200, { code: 0, message: 'Device deactivated' }]);
    const free = ['keys', 'deactivate', KEY, '-P', PRODUCT, '--host-id', 'h1', '-v'];
    const { stderr } = await lkm(free, { fetch, env: remote });
    expect(stderr).toMatch(/^POST \/deactivate-key {2}200 {2}\d+ ms {2}attempt 1 {2}key 00000001-\S+\nfreed h1\n$/);
  });

  it('warns once of an operation that is being retired, also with --json', async () => {
    const fetch = async () =>
      Response.json(listed([])[1 as never], {
        headers: { deprecation: '@1767225600', sunset: 'Mon, 01 Mar 2027 00:00:00 GMT' },
      });
    const { stderr } = await lkm(['customers', 'list', '--json'], { fetch, env: remote });
    expect(stderr).toBe(
      'warning: GET /customer is being retired and ends on Mon, 01 Mar 2027 00:00:00 GMT; update lkm\n',
    );
  });
});
