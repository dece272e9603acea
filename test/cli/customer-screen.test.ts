import { expect, it } from 'vitest';
import { openShop } from './shop.ts';

it('a customer on a terminal has its keys, their devices and what happened last; for a program it is alone', async () => {
  const { names, at, answer, json } = await openShop();
  names.CUS = await answer('customers create --name Ada --email it@ada.example -q');
  names.ONE = await answer('keys create --customer CUS --max-activations 2 --expires never');
  names.TWO = await answer('keys create --customer CUS --expires 1y');
  await answer('keys create');
  await answer('keys activate ONE --host-id pc-1 --tag desk');
  await answer('keys block TWO --note unpaid');

  const { code, stdout, stderr } = await at('customers get Ada', { terminal: true, columns: 80 });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [, keys = '', devices = '', events = ''] = stdout.split('\n\n');
  const [head, ...rows] = keys.split('\n');
  expect(head).toMatch(/^KEY +STATUS +USED +EXPIRES +PRODUCT$/);
  expect(new Set(rows)).toEqual(
    new Set([`${names.ONE}  active    1/2  never         Engine`, `${names.TWO}  blocked   0/∞  in 12 months  Engine`]),
  );
  expect(devices.split('\n')).toEqual([
    'HOST ID  TAG   OF KEY  LAST SEEN',
    `pc-1     desk  …${names.ONE?.slice(-5)}  today`,
  ]);
  expect(
    events
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^.{20} +/, '')),
  ).toEqual([
    expect.stringMatching(/^ *WHAT +ABOUT$/),
    `license.blocked   …${names.TWO?.slice(-5)}`,
    'device.activated  pc-1',
    expect.stringMatching(/^license.created +…/),
    expect.stringMatching(/^license.created +…/),
    'customer.created  –',
  ]);
  expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);

  expect(await json('customers get Ada')).toEqual(expect.objectContaining({ id: names.CUS, name: 'Ada' }));
  expect(await answer('customers get Ada -q')).toBe(names.CUS);
  expect(await answer('customers get Ada --fields name')).toBe('Ada');
});
