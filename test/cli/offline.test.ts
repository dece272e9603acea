import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fakeIo, lkm, tempFolder } from './fake-io.ts';

/** A database with a licence file `a.lic` for the device `h1`, and commands that run on it. */
async function signed() {
  const cwd = tempFolder();
  const env: Record<string, string> = { LKM_DB: 'lkm.db', NO_COLOR: '1' };
  const at = (...argv: string[]) => lkm(argv, { cwd, env });
  const answer = async (...argv: string[]) => (await at(...argv)).stdout.trimEnd();
  env.LKM_PRODUCT = await answer('products', 'create', '--name', 'Engine Pro', '-q', '--create');
  const key = await answer('keys', 'create', '--expires', '1y');
  await at('keys', 'sign', key, '--host-id', 'h1', '-o', 'a.lic');
  /** Without a service, a database or a product. */
  const verify = (file: string, ...argv: string[]) =>
    lkm(['keys', 'verify', file, '--host-id', 'h1', '--jwks', 'jwks.json', ...argv, '-q'], { cwd });
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  return { cwd, at, answer, key, verify, read, write };
}

const nowSeconds = Math.floor(fakeIo().io.now() / 1_000);

describe('signing keys', () => {
  it('are listed, rotated and exported, and files of both verify from then on', async () => {
    const { at, answer, key, verify, read } = await signed();
    const [first] = JSON.parse(await answer('signing-keys', 'list', '--json'));
    expect(first).toMatchObject({ current: true, jwk: { kid: first.kid } });
    const exported = await at('signing-keys', 'export', '-o', 'jwks.json');
    expect(exported).toEqual({ code: 0, stdout: '', stderr: 'wrote jwks.json · 1 public key\n' });
    expect(await at('signing-keys', 'rotate')).toMatchObject({ code: 3, stdout: '' });
    const rotated = await at('signing-keys', 'rotate', '--yes');
    expect(rotated).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w-]{43}\n$/) });
    expect(rotated.stderr).toContain('signs licence files now\n');
    await at('keys', 'sign', key, '--host-id', 'h1', '-o', 'b.lic');
    expect(JSON.parse(read('b.lic')).keyId).toBe(rotated.stdout.trim());
    expect([(await verify('a.lic')).stdout, (await verify('b.lic')).stdout]).toEqual(['ok\n', 'unknown_kid\n']);

    await at('signing-keys', 'export', '-o', 'new.json');
    expect(JSON.parse(read('new.json')).keys.map(({ kid }: { kid: string }) => kid)).toEqual([
      rotated.stdout.trim(),
      first.kid,
    ]);
    const verdicts = [await verify('a.lic', '--jwks', 'new.json'), await verify('b.lic', '--jwks', 'new.json')];
    expect(verdicts.map(({ stdout }) => stdout)).toEqual(['ok\n', 'ok\n']);
  });

  it('are exported as PEM, each below its id, and never their private halves', async () => {
    const { answer } = await signed();
    await answer('signing-keys', 'rotate', '--yes');
    const pem = await answer('signing-keys', 'export', '--as', 'pem');
    expect(pem).toMatch(
      /^(kid [\w-]{43}\n-----BEGIN PUBLIC KEY-----\n[\w+/=]{60}\n-----END PUBLIC KEY-----\n?\n?){2}$/,
    );
  });
});

describe('keys verify --revocations', () => {
  it('refuses a file whose device was freed, and a list that is none', async () => {
    const { at, key, verify, write } = await signed();
    await at('signing-keys', 'export', '-o', 'jwks.json');
    await at('revocations', 'export', '-o', 'before.jwt');
    await at('keys', 'deactivate', key, '--host-id', 'h1');
    expect((await at('revocations', 'export', '-o', 'after.jwt')).stderr).toBe('wrote after.jwt\n');
    write('bad.jwt', '{"files":[]}');
    const verdict = async (list: string) => {
      const { code, stdout } = await verify('a.lic', '--revocations', list);
      return [code, stdout];
    };
    expect(await verdict('before.jwt')).toEqual([0, 'ok\n']);
    expect(await verdict('after.jwt')).toEqual([5, 'revoked\n']);
    expect(await verdict('bad.jwt')).toEqual([5, 'revocations_invalid\n']);
    expect(await verdict('none.jwt')).toEqual([13, '']);
  });
});

describe('keys verify --watermark', () => {
  it('keeps the latest time that was seen, and finds a clock that was set back', async () => {
    const { cwd, at, verify, read, write } = await signed();
    await at('signing-keys', 'export', '-o', 'jwks.json');
    expect(existsSync(join(cwd, 'seen'))).toBe(false);
    expect(await verify('a.lic', '--watermark', 'seen')).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect(read('seen')).toBe(`${nowSeconds}\n`);
    write('seen', `${nowSeconds + 86_400}\n`);
    expect(await verify('a.lic', '--watermark', 'seen')).toMatchObject({ code: 5, stdout: 'clock_rolled_back\n' });
    expect(read('seen')).toBe(`${nowSeconds + 86_400}\n`);
  });

  it('refuses a file that holds something else, and leaves it as it is', async () => {
    const { at, verify, read, write } = await signed();
    await at('signing-keys', 'export', '-o', 'jwks.json');
    write('seen', 'yesterday');
    expect(await verify('a.lic', '--watermark', 'seen')).toMatchObject({ code: 13, stdout: '' });
    expect(read('seen')).toBe('yesterday');
  });
});
