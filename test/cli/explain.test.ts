import { describe, expect, it } from 'vitest';
import { exitCodes } from '../../src/cli/failure/errors.ts';
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
        '  from       POST /create-key, POST /key/transfer, POST /key/import, POST',
        '             /customer, PUT /customer/by-id',
        '  Find it:  lkm customers list --email ADDRESS',
        '  Use it:   lkm keys create -P ID --customer ID',
        '',
      ].join('\n'),
    );
  });

  it.each(['emailTaken', 'email_taken', 'EMAIL_TAKEN', 'emailtaken'])('knows it as %s too', async (name) => {
    expect((await lkm(['explain', name])).stdout).toBe((await lkm(['explain', '409/2'])).stdout);
  });

  it('shows every error of a code that several share', async () => {
    const { stdout } = await lkm(['explain', '404/1', '--json']);
    const names = JSON.parse(stdout).map(({ error }: { error: string }) => error);
    expect(names).toContain('license_not_found');
    expect(names).toContain('device_not_found');
  });

  it.each(['409', 'http_409'])('shows every error of the status %s', async (status) => {
    const { stdout } = await lkm(['explain', status, '--json']);
    const statuses = JSON.parse(stdout).map((error: { status: number }) => error.status);
    expect(statuses.length).toBeGreaterThan(5);
    expect(new Set(statuses)).toEqual(new Set([409]));
  });

  it.each([
    ['usage', 2],
    ['no_token', 4],
    ['bad_response', 10],
    ['outcome_unknown', 8],
    ['local', 13],
  ])('explains %s of a JSON error by its exit code', async (name, exitCode) => {
    expect(JSON.parse((await lkm(['explain', name, '--json'])).stdout)).toMatchObject({ exitCode });
  });

  it('explains an exit code by the errors that lead to it', async () => {
    const { stdout } = await lkm(['explain', '7', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      exitCode: 7,
      meaning: 'it conflicts with what exists, such as an e-mail address',
      errors: expect.arrayContaining([expect.objectContaining({ error: 'email_taken' })]),
    });
  });

  it.each(Object.keys(apiErrors))('has a whole sentence for %s', async (name) => {
    const { code, stdout } = await lkm(['explain', name]);
    expect(code).toBe(0);
    expect(stdout).not.toContain('undefined');
  });

  it.each(Object.values(exitCodes))('knows exit code %d', async (exitCode) => {
    const { code, stdout } = await lkm(['explain', String(exitCode)]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^exit code \d+\n\S/) });
  });

  it.each(['409/99', 'nonsense', '999', 'toString'])('says what there is in place of %s', async (code) => {
    const ran = await lkm(['explain', code]);
    expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`there is no error '${code}'`) });
  });
});
