import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/failure/errors.ts';
import { commandEntries } from '../../src/cli/tree.ts';
import { apiErrors } from '../../src/contract/errors.ts';
import { lkm } from './fake-io.ts';

describe('lkm explain', () => {
  it('shows what an error means, what returns it, and what to do', async () => {
    const { stdout } = await lkm(['explain', '409/2']);
    expect(stdout).toBe(
      [
        'email_taken',
        '  answer     409, code 2: "A customer with email ADDRESS already exists"',
        '  exit code  7: it conflicts with what exists, such as an e-mail address',
        '  from       POST /create-key, PATCH /key, POST /key/transfer, POST /key/import,',
        '             POST /customer, PUT /customer/by-id',
        '  Find it:  lkm customers list --email EMAIL',
        '  Use it:   lkm keys create -P PRODUCT --customer EMAIL',
        '',
      ].join('\n'),
    );
  });

  it.each(['emailTaken', 'email_taken', 'EMAIL_TAKEN', 'emailtaken'])('knows it as %s too', async (name) => {
    expect((await lkm(['explain', name])).stdout).toBe((await lkm(['explain', '409/2'])).stdout);
  });

  it.each(['500/1', 'server_error'])(
    'says of %s that a change may have been made, and how its command ends',
    async (code) => {
      const { stdout } = await lkm(['explain', code]);
      expect(stdout).toMatch(/^ +8 for a change: it may have happened: run it again with the same$/m);
      expect(stdout).not.toContain('nothing was done');
    },
  );

  it('says of exit code 10, and of 503, that nothing was changed', async () => {
    for (const code of ['10', '503/1']) {
      expect((await lkm(['explain', code])).stdout).toContain('the service failed, and changed nothing');
      expect((await lkm(['explain', code])).stdout).not.toContain('8 for a change');
    }
  });

  it('shows every error of a code that several share, or of a status', async () => {
    const of = async (code: string): Promise<{ error: string; status: number }[]> =>
      JSON.parse((await lkm(['explain', code, '--json'])).stdout);
    expect((await of('404/1')).map(({ error }) => error)).toContain('device_not_found');
    for (const status of ['409', 'http_409']) {
      const statuses = (await of(status)).map((error) => error.status);
      expect(statuses.length).toBeGreaterThan(5);
      expect(new Set(statuses)).toEqual(new Set([409]));
    }
  });

  it.each([
    ['usage', 2],
    ['no_token', 4],
    ['bad_response', 10],
    ['outcome_unknown', 8],
    ['7', 7],
  ])('explains %s by the exit code %d', async (name, exitCode) => {
    const { errors, ...explained } = JSON.parse((await lkm(['explain', name, '--json'])).stdout);
    expect(explained).toEqual({ exitCode, meaning: expect.stringMatching(/\w/) });
    if (exitCode === 7) expect(errors).toContainEqual(expect.objectContaining({ error: 'email_taken' }));
  });

  it('has a page for every error and every exit code', async () => {
    for (const name of [...Object.keys(apiErrors), ...Object.values(exitCodes)]) {
      const { code, stdout } = await lkm(['explain', String(name)]);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^.+\n\s*\S.*\n/) });
      expect(stdout).not.toContain('undefined');
    }
  });

  it.each(['409/99', 'nonsense', '999', 'toString'])('says what there is in place of %s', async (code) => {
    const ran = await lkm(['explain', code]);
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`there is no error '${code}'`) });
  });
});

it('lkm commands lists every command with its options', async () => {
  const rows: { command: string; options: { flags: string }[] }[] = JSON.parse(
    (await lkm(['commands', '--json'])).stdout,
  );
  expect(rows.map(({ command }) => command)).toEqual(commandEntries.map(({ path }) => path));
  const create = rows.find(({ command }) => command === 'keys create');
  expect(create?.options.map(({ flags }) => flags)).toContain('--max-activations <N|unlimited>');
  expect((await lkm(['commands'])).stdout).toContain('\nkeys create\tissue a licence key\n');
});
