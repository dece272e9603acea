import { createHmac } from 'node:crypto';
import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { withoutRecord } from '../support/recorded.ts';
import type { Address, Answer, World } from '../support/world.ts';

const HTML = { 'accept-language': 'en' };

/** A customer with a link to its page, and a key for one device, which uses it. */
async function customerWithPage(world: World, name = 'Ada Ltd', more: object = {}) {
  const { id: customerId } = await world.customer({ name });
  const { id: productId } = await world.product(`Engine of ${name}`);
  const licenseKey = await world.key({ productId, customerId, usesPerKey: '1', ...more });
  const address = { productId, licenseKey };
  await activate(world, address, 'host-1');
  return { customerId, address, ...(await linkOf(world, customerId)) };
}

async function linkOf(world: World, customerId: string) {
  const { data } = (await world.call('admin', 'POST', '/customer/link', { customerId })).body;
  const path: string = new URL(data.url).pathname;
  return { path, token: path.slice('/my/'.length) };
}

const activate = (world: World, address: Address, hostId: string): Promise<Answer> =>
  world.call('client', 'POST', '/key/activate', { ...address, hostId, deviceTag: `Laptop of ${hostId}` });

const open = (world: World, path: string, headers: object = {}) =>
  world.send(path, { headers: { ...HTML, ...headers } });

/** The fields of the forms on a page. */
const formsOf = ({ text }: Answer): Record<string, string>[] =>
  [...text.matchAll(/<form[^>]*>(.*?)<\/form>/g)].map(([, fields = '']) =>
    Object.fromEntries([...fields.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value])),
  );

const submit = (world: World, path: string, form: Record<string, string> = {}, headers: object = {}) =>
  world.send(path, { method: 'POST', body: new URLSearchParams(form), headers: { ...HTML, ...headers } });

/** The form as the page would have it where it has none. */
async function forgedForm(world: World, address: Address, token: string) {
  const { id, devices } = await world.license(address);
  const device = devices[0]?.id ?? '';
  return { key: id, device, form: createHmac('sha256', token).update(`free ${device}`).digest('base64url') };
}

describe.each(engines)('the page of a customer, on $name,', (engine) => {
  const it = testsOn(engine);

  it('shows its keys by their end, with their devices, and nothing of others', async ({ world }) => {
    await customerWithPage(world, 'Bob');
    const { path, address } = await customerWithPage(world);
    const page = await open(world, path);
    expect(page.status).toBe(200);
    expect(page.text).toContain(`Licence key ending in ${address.licenseKey.slice(-5)}`);
    for (const shown of [
      'Licences of Ada Ltd',
      'Engine of Ada Ltd',
      'Valid until December 21, 2026',
      'Devices: 1 of 1',
    ]) {
      expect(page.text).toContain(shown);
    }
    expect(page.text).toContain('Laptop of host-1');
    expect(page.text).toContain('In use since November 21, 2026 · last used on November 21, 2026');
    expect(page.text).toContain('Devices that you can still exchange in 2026: 3 of 3');
    for (const hidden of [address.licenseKey, address.licenseKey.slice(0, 17), 'Bob', '203.0.113.7']) {
      expect(page.text).not.toContain(hidden);
    }
  });

  it('runs, loads and caches nothing, is in no frame, and sends its address nowhere', async ({ world }) => {
    const { path } = await customerWithPage(world);
    const { headers, text } = await open(world, path);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]+='; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(text).not.toMatch(/<script|\son\w+=|\sstyle=|https?:/);
  });

  it('shows names as they are, whatever is in them', async ({ world }) => {
    const { path } = await customerWithPage(world, `<img src=x onerror="a()">'&`);
    const { text } = await open(world, path);
    expect(text).toContain('&lt;img src=x onerror=&quot;a()&quot;&gt;&#39;&amp;');
    expect(text).not.toContain('<img');
  });

  it.for([
    ['de-AT, en;q=0.5', 'de', 'Lizenzen von Ada Ltd', '21. Dezember 2026'],
    ['fr, de;q=0.1', 'de', 'Lizenzen von Ada Ltd', '21. Dezember 2026'],
    ['fr, *', 'en', 'Licences of Ada Ltd', 'December 21, 2026'],
  ])('is in the language that its reader likes best: %s', async ([accepted, language, title, date], { world }) => {
    const { path } = await customerWithPage(world);
    const { text } = await open(world, path, { 'accept-language': accepted });
    expect(text).toContain(`<html lang="${language}" dir="ltr">`);
    expect(text).toContain(title);
    expect(text).toContain(date);
  });

  it('frees a device, whose slot another host takes, three times a year', async ({ world }) => {
    const { path, address, token, customerId } = await customerWithPage(world);
    for (const [at, left] of [2, 1, 0].entries()) {
      expect((await activate(world, address, `host-${at + 2}`)).status).toBe(403);
      const [form] = formsOf(await open(world, path));
      const freed = await submit(world, path, form);
      expect([freed.status, freed.headers.location]).toEqual([303, '?freed']);
      expect((await open(world, `${path}?freed`)).text).toContain('The device is freed.');
      expect((await activate(world, address, `host-${at + 2}`)).status).toBe(200);
      const { text } = await open(world, path);
      if (left > 0) expect(text).toContain(`exchange in 2026: ${left} of 3`);
    }
    const page = await open(world, path);
    expect(page.text).toContain('You have exchanged all 3 devices that you can exchange in 2026.');
    expect(formsOf(page)).toEqual([]);
    const refused = await submit(world, path, await forgedForm(world, address, token));
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('Nothing was changed: the devices of this licence cannot be exchanged now.');
    expect((await world.license(address)).activations).toBe(1);
    await world.sequence();
    const { data } = (await world.call('admin', 'GET', '/audit/list?limit=1000')).body;
    const actor = { type: 'customer', id: customerId };
    const frees = data.filter(({ operation }: { operation: string }) => operation === 'page.free');
    expect(frees).toHaveLength(3);
    expect(frees[0]).toMatchObject({ actor, door: 'page', token: null, resource: { type: 'device' }, outcome: 'done' });
    const events = (await world.call('admin', 'GET', '/event/list?type=device.deactivated')).body.data;
    expect(events.map(({ actor }: { actor: object }) => actor)).toEqual([actor, actor, actor]);
    const opened = data.filter(({ operation }: { operation: string }) => operation === 'page.open');
    expect(opened[0]).toMatchObject({ actor, door: 'page', resource: { type: 'customer', id: customerId } });
    world.setNow('2027-01-01T00:00:00.000Z');
    const later = await linkOf(world, customerId);
    expect((await open(world, later.path)).text).toContain('exchange in 2027: 3 of 3');
  });

  it('counts a device that was freed and not replaced, until it comes back', async ({ world }) => {
    const { path, address } = await customerWithPage(world, 'Ada Ltd', { usesPerKey: '2' });
    await activate(world, address, 'host-2');
    const [form] = formsOf(await open(world, path));
    await submit(world, path, form);
    expect((await open(world, path)).text).toContain('exchange in 2026: 2 of 3');
    await activate(world, address, 'host-1');
    expect((await open(world, path)).text).toContain('exchange in 2026: 3 of 3');
  });

  it('frees nothing where the vendor decides, and anything where slots have no limit', async ({ world }) => {
    const closed = await customerWithPage(world, 'Closed', { customerCanSelfReset: false });
    const page = await open(world, closed.path);
    expect(page.text).toContain('To exchange a device, ask the vendor.');
    expect(formsOf(page)).toEqual([]);
    const form = await forgedForm(world, closed.address, closed.token);
    expect((await submit(world, closed.path, form)).status).toBe(403);
    const free = await customerWithPage(world, 'Open', { usesPerKey: undefined });
    for (let host = 2; host < 8; host += 1) {
      const [form] = formsOf(await open(world, free.path));
      expect((await submit(world, free.path, form)).status).toBe(303);
      await activate(world, free.address, `host-${host}`);
    }
    expect((await open(world, free.path)).text).toContain('You can free devices as often as you like.');
  });

  it('promises no exchange for a key that the vendor has blocked or ended', async ({ world }) => {
    for (const [change, term] of [
      ['block', 'Blocked. Ask the vendor.'],
      ['revoke', 'Ended by the vendor'],
    ] as const) {
      const { path, address } = await customerWithPage(world, change);
      const [form] = formsOf(await open(world, path));
      await world.call('admin', 'POST', `/key/${change}`, address);
      const page = await open(world, path);
      expect(page.text).toContain(term);
      expect(page.text).toContain('Laptop of host-1');
      expect(page.text).not.toContain('exchange');
      expect(formsOf(page)).toEqual([]);
      if (change === 'block') expect((await submit(world, path, form)).status).toBe(409);
    }
  });

  it('changes nothing by a form that is not its own', async ({ world }) => {
    const ada = await customerWithPage(world);
    const bob = await customerWithPage(world, 'Bob');
    const second = await linkOf(world, ada.customerId);
    const [own = {}] = formsOf(await open(world, ada.path));
    const [foreign = {}] = formsOf(await open(world, bob.path));
    const before = withoutRecord(await world.contents());
    const stolen: [path: string, form: Record<string, string>, headers?: object][] = [
      [bob.path, own],
      [ada.path, foreign],
      [second.path, own],
      [ada.path, { ...own, device: foreign.device ?? '' }],
      [ada.path, { ...(await forgedForm(world, bob.address, ada.token)) }],
      [ada.path, { ...own, form: '' }],
      [ada.path, { ...own, form: 'é'.repeat(own.form?.length ?? 0) }],
      [ada.path, {}],
      [ada.path, own, { 'sec-fetch-site': 'cross-site' }],
      [ada.path, own, { 'sec-fetch-site': 'same-site' }],
      [ada.path, own, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-16' }],
      [ada.path, own, { 'content-encoding': 'gzip' }],
      [ada.path, { ...own, more: 'x'.repeat(2 ** 20) }],
    ];
    for (const [path, form, headers] of stolen) expect((await submit(world, path, form, headers)).status).toBe(409);
    expect(withoutRecord(await world.contents())).toEqual(before);
  });

  it('frees a device once, however often a form is sent, also at one time', async ({ world }) => {
    const { path, address } = await customerWithPage(world);
    const [form] = formsOf(await open(world, path));
    const clicks = await Promise.all([1, 2, 3, 4].map(() => submit(world, path, form)));
    expect(clicks.map(({ status }) => status).sort()).toEqual([303, 409, 409, 409]);
    expect((await world.license(address)).activations).toBe(0);
    // The device has come back, and is another activation.
    await activate(world, address, 'host-1');
    const late = await submit(world, path, form);
    expect([late.status, (await world.license(address)).activations]).toEqual([409, 1]);
    expect(late.text).toContain('Nothing was changed: this device does not use the licence any more.');
  });

  it('is gone, forms and all, when its link has ended or was withdrawn, or its customer was deleted', async ({
    world,
  }) => {
    const ended = await customerWithPage(world, 'Ended');
    const [form] = formsOf(await open(world, ended.path));
    world.setNow('2026-11-21T11:00:00.000Z');
    expect((await open(world, ended.path)).status).toBe(404);
    const withdrawn = await customerWithPage(world, 'Withdrawn');
    await world.call('admin', 'DELETE', `/customer/link?customerId=${withdrawn.customerId}`);
    const deleted = await customerWithPage(world, 'Deleted');
    await world.call('admin', 'DELETE', `/customer/by-id?customerId=${deleted.customerId}`);
    const before = withoutRecord(await world.contents());
    const unknown = await open(world, `/my/${'A'.repeat(43)}`);
    expect(unknown.text).toContain('This address does not work');
    for (const { path } of [ended, withdrawn, deleted]) {
      expect(await open(world, path)).toMatchObject({ status: 404, text: unknown.text });
      expect(await submit(world, path, form)).toMatchObject({ status: 404, text: unknown.text });
    }
    expect(withoutRecord(await world.contents())).toEqual(before);
  });

  it('is gone, and no failure, for those who open it while its customer is deleted', async ({ world }) => {
    const { path, customerId } = await customerWithPage(world);
    const [deleted, ...opened] = await Promise.all([
      world.call('admin', 'DELETE', `/customer/by-id?customerId=${customerId}`),
      ...[1, 2, 3, 4, 5, 6].map(() => open(world, path)),
    ]);
    expect(deleted.status).toBe(200);
    for (const { status } of opened) expect([200, 404]).toContain(status);
  });

  it('answers 404 at every path without a token, whatever the method', async ({ world }) => {
    const { path } = await customerWithPage(world);
    const wrong = ['/my', '/my/', '/my/x', `${path}x`, `${path}/`, path.slice(0, -1), path.toUpperCase(), '/my/a%2fb'];
    for (const each of wrong) expect([each, (await open(world, each)).status]).toEqual([each, 404]);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect([method, (await world.send('/my/x', { method })).status]).toEqual([method, 404]);
    }
    expect((await world.send(path, { method: 'DELETE' })).status).toBe(404);
    expect((await world.send(path, { method: 'HEAD' })).status).toBe(200);
  });

  it('is limited per address', async ({ world }) => {
    const { path } = await customerWithPage(world);
    const statuses = new Set<number>();
    for (let asked = 0; asked < 200 && !statuses.has(429); asked += 1)
      statuses.add((await open(world, '/my/x')).status);
    expect([...statuses]).toEqual([404, 429]);
    const refused = await open(world, path);
    expect(refused).toMatchObject({ status: 429, headers: { 'ratelimit-policy': '"page";q=60;w=60' } });
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect(refused.text).toContain('Too many requests');
  });

  it('says so in words when the database fails, and nothing of why', async ({ world }) => {
    const { path } = await customerWithPage(world);
    await world.breakTable('licenses');
    const failed = await open(world, path);
    expect(failed.status).toBe(500);
    expect(failed.text).toContain('Nothing was changed. Try again later.');
    expect(failed.text).not.toContain('licenses');
  });
});
