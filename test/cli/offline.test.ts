import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lkm, NOW } from './fake-io.ts';
import { openShop } from './shop.ts';

/** A shop with a licence file `a.lic` for the device `h1`, and its public keys. */
async function signed() {
  const shop = await openShop();
  const { cwd, names, at, answer } = shop;
  names.KEY = await answer('keys create --expires 1y');
  await answer('keys sign KEY --host-id h1 -o a.lic');
  const exported = await at('signing-keys export -o jwks.json');
  /** Without a service, a database or a product. */
  const verify = async (options: string) => {
    const { code, stdout } = await lkm(`keys verify --host-id h1 --jwks jwks.json ${options} -q`.split(' '), { cwd });
    return [code, stdout];
  };
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
  return { ...shop, exported, verify, read, write };
}

const nowSeconds = NOW / 1_000;

describe('signing keys', () => {
  it('are listed, rotated and exported, and files of both verify from then on', async () => {
    const { at, answer, json, exported, verify, read } = await signed();
    const [first] = await json('signing-keys list');
    expect(first).toMatchObject({ current: true, jwk: { kid: first.kid } });
    expect(exported).toEqual({ code: 0, stdout: '', stderr: 'wrote jwks.json · 1 public key\n' });
    expect(await at('signing-keys rotate')).toMatchObject({ code: 3, stdout: '' });
    const rotated = await answer('signing-keys rotate --yes');
    await answer('keys sign KEY --host-id h1 -o b.lic');
    expect(JSON.parse(read('b.lic')).keyId).toBe(rotated);
    expect([await verify('a.lic'), await verify('b.lic')]).toEqual([
      [0, 'ok\n'],
      [5, 'unknown_kid\n'],
    ]);
    await answer('signing-keys export -o new.json');
    expect(JSON.parse(read('new.json')).keys.map(({ kid }: { kid: string }) => kid)).toEqual([rotated, first.kid]);
    for (const file of ['a.lic', 'b.lic']) expect(await verify(`${file} --jwks new.json`)).toEqual([0, 'ok\n']);
    // As PEM, each below its id, and never their private halves.
    expect(await answer('signing-keys export --as pem')).toMatch(
      /^(kid [\w-]{43}\n-----BEGIN PUBLIC KEY-----\n[\w+/=]{60}\n-----END PUBLIC KEY-----\n?\n?){2}$/,
    );
  });
});

it('keys verify --revocations refuses a file whose device was freed, and a list that is none', async () => {
  const { at, answer, verify, write } = await signed();
  await answer('revocations export -o before.jwt');
  await answer('keys deactivate KEY --host-id h1');
  expect((await at('revocations export -o after.jwt')).stderr).toBe('wrote after.jwt\n');
  write('bad.jwt', '{"files":[]}');
  for (const [list, code, stdout] of [
    ['before.jwt', 0, 'ok\n'],
    ['after.jwt', 5, 'revoked\n'],
    ['bad.jwt', 5, 'revocations_invalid\n'],
    ['none.jwt', 13, ''],
  ]) {
    expect(await verify(`a.lic --revocations ${list}`)).toEqual([code, stdout]);
  }
});

it('keys verify --watermark keeps the latest time, finds a clock that was set back, and leaves another file', async () => {
  const { verify, read, write } = await signed();
  for (const [before, after, code, stdout] of [
    [null, `${nowSeconds}\n`, 0, 'ok\n'],
    [`${nowSeconds + 86_400}\n`, `${nowSeconds + 86_400}\n`, 5, 'clock_rolled_back\n'],
    ['yesterday', 'yesterday', 13, ''],
  ] as const) {
    if (before !== null) write('seen', before);
    expect(await verify('a.lic --watermark seen')).toEqual([code, stdout]);
    expect(read('seen')).toBe(after);
  }
});
