import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { says } from './fake-io.ts';
import { openShop } from './shop.ts';

const request = 'offline request KEY --host-id pc-7 --device-key pc-7.pem -o pc-7.json';

it('a device without a network gets a file, gives it up, and frees its slot by a proof', async () => {
  const { cwd, at, answer, json, names } = await openShop();
  names.KEY = await answer('keys create --max-activations 1');
  expect(await at(request)).toMatchObject({ code: 0, stdout: '', stderr: says('wrote pc-7.json') });
  for (const name of ['pc-7.pem', 'pc-7.json']) expect(statSync(join(cwd, name)).mode & 0o777).toBe(0o600);
  await answer('offline answer pc-7.json -o pc-7.lic');
  await answer('signing-keys export -o jwks.json');
  const verify = 'keys verify pc-7.lic --host-id pc-7 --jwks jwks.json';
  expect(await answer(verify)).toBe('ok');
  expect(await at('keys activate KEY --host-id pc-8')).toMatchObject({ code: 5 });

  const released = await at('offline release pc-7.lic --device-key pc-7.pem -o pc-7.proof');
  expect(released).toMatchObject({ code: 0, stderr: says('pc-7.lic counts no more: delete it') });
  expect(await at('offline accept pc-7.proof')).toMatchObject({ code: 0, stderr: 'freed pc-7\n' });
  expect((await json('keys get KEY')).license.activations).toBe(0);
  await answer('revocations export -o rev.jwt');
  expect(await at(`${verify} --revocations rev.jwt`)).toMatchObject({ code: 5, stdout: 'revoked\n' });
  expect(await at('offline accept pc-7.proof')).toMatchObject({ code: 6, stdout: '' });
});

it('a device keeps its key: another request has the same, and none is overwritten', async () => {
  const { cwd, at, answer, names } = await openShop();
  names.KEY = await answer('keys create');
  const publicKeyIn = async () => JSON.parse(await answer(request.replace('-o pc-7.json', '-o -'))).publicKey;
  expect(await publicKeyIn()).toBe(await publicKeyIn());
  writeFileSync(join(cwd, 'pc-7.pem'), 'my notes');
  expect(await at(request)).toMatchObject({ code: 13, stderr: says('pc-7.pem holds no Ed25519 key') });
});

it.each([
  ['offline answer jwks.json -o a.lic', 'jwks.json is no request of a device'],
  ['offline release jwks.json --device-key pc-7.pem -o a.proof', 'jwks.json is no licence file of lkm'],
  ['offline accept jwks.json', 'jwks.json is no proof of a device'],
])('%s names a file of another kind, and sends nothing', async (line, message) => {
  const { at, answer, names } = await openShop();
  names.KEY = await answer('keys create');
  await answer(request);
  await answer('signing-keys export -o jwks.json');
  expect(await at(line)).toMatchObject({ code: 2, stdout: '', stderr: says(message) });
});
