import { describe, expect, it } from 'vitest';
import { against, customer, issued, KEY, listed, PRODUCT } from './scripted-service.ts';

const create = `keys create -P ${PRODUCT}`;
const ada = listed([customer('cus_1', 'Ada Ltd', 'it@ada.example')]);

describe('stdout', () => {
  it.each([true, false])('carries one value as it is, terminal or not (%s)', async (terminal) => {
    expect((await against(create, [issued], { terminal })).stdout).toBe(`${KEY}\n`);
  });

  it.each<[isColored: boolean, terminal: boolean, options: string, env: Record<string, string>]>([
    [true, true, '', {}],
    [false, false, '', {}],
    [false, true, ' --no-color', {}],
    [true, false, ' --color always', {}],
    [false, true, '', { NO_COLOR: '1' }],
    [true, false, '', { FORCE_COLOR: '1' }],
    [false, true, '', { TERM: 'dumb' }],
  ])('has colours (%s) on a terminal (%s) with "%s" and %j', async (isColored, terminal, options, env) => {
    const { stdout } = await against(`customers list --format table${options}`, [ada], { terminal, env });
    expect(stdout.includes('\u001b[')).toBe(isColored);
  });

  it('is empty for an empty list, which is a success', async () => {
    const stderr = 'no customers yet; lkm customers create makes one\n';
    expect(await against('customers list', [listed([])])).toMatchObject({ code: 0, stdout: '', stderr });
  });
});

describe('stderr', () => {
  it.each(['1y', '364d', '2027-11-21'])(
    'says that %s lasts to the end of its day, and sends the same all day',
    async (when) => {
      const at = (time: string) =>
        against(`${create} --expires ${when}`, [issued], { now: Date.parse(`2026-11-21T${time}Z`) });
      const day = when === '364d' ? '2027-11-20' : '2027-11-21';
      for (const { stderr, seen } of [await at('00:00:00'), await at('23:59:59')]) {
        expect(stderr).toBe(`created · unlimited activations · expires ${day} 23:59 UTC\n`);
        expect(seen[0]?.body).toEqual({ productId: PRODUCT, expiryDate: `${day}T23:59:59.000Z` });
      }
    },
  );

  it.each([['-q'], ['--json'], ['--format=jsonl']])('says nothing with %s', async (option) => {
    expect((await against(`${create} ${option}`, [issued])).stderr).toBe('');
  });

  it('has a line for every request with -v, without a secret', async () => {
    const line = `keys deactivate ${KEY} -P ${PRODUCT} --host-id h1 -v`;
    const { stderr } = await against(line, [[200, { code: 0, message: 'Device deactivated' }]]);
    expect(stderr).toMatch(/^POST \/deactivate-key {2}200 {2}\d+ ms {2}attempt 1\nfreed h1\n$/);
  });

  it('warns once of an operation that is being retired, also with --json', async () => {
    const headers = { deprecation: '@1767225600', sunset: 'Mon, 01 Mar 2027 00:00:00 GMT' };
    const fetch = async () => Response.json({ action: 'customers.list', status: true, data: [], code: 0 }, { headers });
    const { stderr } = await against('customers list --json', [], { fetch });
    expect(stderr).toBe(
      'warning: GET /customer is being retired and ends on Mon, 01 Mar 2027 00:00:00 GMT; update lkm\n',
    );
  });
});
