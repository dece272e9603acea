import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';

/** So many lists, each in the other. */
const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

const values = {
  nothing: null,
  list: [1, 'x', null, true, []],
  object: { a: { b: [{ '': 'lines\r\n\tof text' }] }, ключ: 'ß\u{1f511}' },
  deep: nested(30),
  long: 'x'.repeat(600),
  text: 'pro',
  number: 1.5,
  flag: false,
};

describe.each(engines)('free metadata on $name', (engine) => {
  const it = testsOn(engine);

  it('takes any JSON, shows it as it was, and is found by text, number or boolean', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId, metadata: values });
    const shown = { ...values, features: {}, is_trial: false };
    expect((await world.license({ productId, licenseKey })).metadata).toEqual(shown);
    const key = '29TVQ-QYKWF-SG8QQ-4K85R-YFSVJ';
    const imported = await world.call('admin', 'POST', '/key/import', { productId, key, metadata: values });
    expect([imported.status, (await world.license({ productId, licenseKey: key })).metadata]).toEqual([200, shown]);
    const found = async (name: string, value: string) => {
      const query = new URLSearchParams({ [`metadata.${name}`]: value });
      return (await world.call('admin', 'GET', `/key/list?${query}`)).body.data.length;
    };
    expect(await Promise.all([found('text', 'pro'), found('number', '1.5'), found('flag', 'false')])).toEqual([
      2, 2, 2,
    ]);
    expect(await Promise.all([found('nothing', 'null'), found('object', '[object Object]')])).toEqual([0, 0]);
  });

  it('is changed as a whole value, and null removes an entry and leaves those that are null', async ({
    world,
    productId,
  }) => {
    const licenseKey = await world.key({ productId, metadata: values });
    const metadata = { object: { c: null }, list: null, text: ['pro'], long: 'short' };
    const { status, body } = await world.call('admin', 'PATCH', '/key', { productId, licenseKey, metadata });
    const { list: _, ...left } = values;
    const shown = { ...left, object: { c: null }, text: ['pro'], long: 'short', features: {}, is_trial: false };
    expect([status, body.data.metadata]).toEqual([200, shown]);
    const query = async (filter: string) => (await world.call('admin', 'GET', `/key/list?${filter}`)).body.data.length;
    expect(await Promise.all([query('metadata.text=pro'), query('metadata.long=short')])).toEqual([0, 1]);
    const deleted = await world.call('admin', 'DELETE', `/key?${new URLSearchParams({ productId, licenseKey })}`);
    expect([deleted.status, (await world.contents()).license_metadata]).toEqual([200, []]);
  });

  it.for([
    ['too many levels', { a: nested(31) }],
    ['a NUL character further down', { a: { b: ['x\u0000'] } }],
    ['a control character in a name further down', { a: [{ 'x\u001b': 1 }] }],
    ['half of a surrogate pair', { a: ['\ud800'] }],
    ['more than 8 192 bytes', { a: ['x'.repeat(8_192)] }],
    ['a member that would reach the prototype', JSON.parse('{"a":{"__proto__":{"admin":true}}}')],
  ])('refuses %s', async ([, metadata], { world, productId }) => {
    const licenseKey = await world.key({ productId });
    const before = await world.contents();
    const answers = [
      await world.call('admin', 'POST', '/create-key', { productId, metadata }),
      await world.call('admin', 'PATCH', '/key', { productId, licenseKey, metadata }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(await world.contents()).toEqual(before);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });
});
