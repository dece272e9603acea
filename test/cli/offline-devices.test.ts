import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openShop } from './shop.ts';

/** A shop with a key, and the folder of a device. */
async function withKey() {
  const shop = await openShop();
  shop.names.KEY = await shop.answer('keys create --expires 1y');
  const fileOf = (name: string) => join(shop.cwd, name);
  return { ...shop, fileOf, read: (name: string) => readFileSync(fileOf(name), 'utf8') };
}

const request = 'offline request KEY --host-id pc-7 --device-key pc-7.pem';

it('lkm offline finds the product of a request that names none, and takes the slot back by a proof', async () => {
  const { at, answer, read, fileOf } = await withKey();
  // The device knows no product.
  const env = { LKM_PRODUCT: '' };
  await answer(`${request} -o pc-7.json`, { env });
  expect(JSON.parse(read('pc-7.json'))).not.toHaveProperty('productId');
  for (const name of ['pc-7.json', 'pc-7.pem']) expect(statSync(fileOf(name)).mode & 0o777).toBe(0o600);
  await answer('offline answer pc-7.json -o pc-7.lic', { env });
  await answer('offline release pc-7.lic --device-key pc-7.pem -o pc-7.proof');
  expect((await at('offline accept pc-7.proof')).stderr).toBe('freed pc-7\n');
  expect((await at('offline accept pc-7.proof')).code).toBe(6);
});

it('lkm offline writes nothing over the key of the device', async () => {
  const { at, answer, read, fileOf } = await withKey();
  const told = 'error: pc-7.pem is where the key of the device is kept: name another file with -o\n';
  expect(await at(`${request} -o ./pc-7.pem`)).toEqual({ code: 2, stdout: '', stderr: told });
  expect(existsSync(fileOf('pc-7.pem'))).toBe(false);
  await answer(`${request} -o pc-7.json`);
  const key = read('pc-7.pem');
  await answer('offline answer pc-7.json -o pc-7.lic');
  for (const command of [request, 'offline release pc-7.lic --device-key pc-7.pem']) {
    expect((await at(`${command} -o pc-7.pem --force`)).code).toBe(2);
  }
  expect(read('pc-7.pem')).toBe(key);
});

it('lkm keys sign says for which device the file is: the one that the host is by its components', async () => {
  const { at, answer, json, names } = await withKey();
  names.KEY = await answer('keys create --expires 1y --fingerprint-match 1');
  await answer('keys activate KEY --host-id pc-7 --component disk=S3Z9');
  const sign = 'keys sign KEY --host-id new-name --component disk=S3Z9';
  expect((await json(`${sign} -o a.lic`)).hostId).toBe('pc-7');
  expect((await at(`${sign} -o b.lic`)).stderr).toBe('wrote b.lic · for pc-7 · new-name is pc-7 by its components\n');
  expect((await at('keys verify b.lic --host-id pc-7 -q')).stdout).toBe('ok\n');
});
