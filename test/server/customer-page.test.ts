import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createTestClock } from '../../src/server/test-clock.ts';
import { startTestServer } from '../support/server.ts';
import { chromium, openTab, type Tab } from './chromium.ts';

const FRENCH = { title: 'Vos licences', of: 'Licences de {customer}', free: 'Libérer cet appareil' };

/** A shop with a page, and a customer with two keys: one is for one device, its old laptop. */
async function openShop() {
  const service = await startTestServer({
    clock: createTestClock(Date.parse('2026-11-21T10:00:00.000Z')),
    page: { name: 'Ada Soft', color: '#f5c211', texts: { fr: FRENCH } },
  });
  const post = async (path: string, body: unknown) => (await service.call('POST', path, body)).body;
  const productId = (await post('/product', { name: 'Engine Pro' })).data.id;
  const customerId = (await post('/customer', { name: 'Grace Hopper GmbH' })).data.id;
  const licenseKey = (await post('/create-key', { productId, customerId, usesPerKey: '1' })).key;
  await post('/create-key', { productId, customerId, expiryDate: null });
  const client = (await post('/token', { name: 'app', kind: 'client' })).data.token;
  const activate = async (hostId: string, deviceTag: string): Promise<number> => {
    const headers = { Authorization: `Bearer ${client}` };
    return (await service.call('POST', '/key/activate', { productId, licenseKey, hostId, deviceTag }, headers)).status;
  };
  expect(await activate('4c4c4544-0033-4a10-8054-b4c04f564433', 'Old laptop')).toBe(200);
  const { url } = (await post('/customer/link', { customerId })).data;
  return { service, activate, url: String(url) };
}

/** Presses Tab until a button has the focus, and then Enter. */
async function pressTheButton(tab: Tab): Promise<void> {
  const focused = () => tab.evaluate<string>('document.activeElement.tagName');
  for (let presses = 0; presses < 20 && (await focused()) !== 'BUTTON'; presses += 1) await tab.press('Tab');
  expect(await focused()).toBe('BUTTON');
  await tab.loading(() => tab.press('Enter'));
}

const axe = () => readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** What axe finds, by rule and element. */
async function findings(tab: Tab): Promise<string[]> {
  await tab.evaluate(`${axe()};0`);
  return tab.evaluate(
    `axe.run(document).then(({ violations, incomplete }) => [...violations, ...incomplete].flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target)))`,
  );
}

/** Keeps a picture where `LKM_TEST_PICTURES` says, for who wants to look at it. */
async function keepPicture(tab: Tab, name: string): Promise<void> {
  const folder = process.env.LKM_TEST_PICTURES;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), await tab.picture());
}

describe.skipIf(chromium === null)('the page of a customer in a browser', { timeout: 120_000 }, () => {
  it('frees the old laptop by the keyboard, and says in words when no device can be exchanged any more', async () => {
    const { service, activate, url } = await openShop();
    await using _ = service;
    await using tab = await openTab(chromium ?? '');
    await tab.open(url);
    expect(await tab.text()).toContain('Old laptop\nIn use since November 21, 2026');
    await keepPicture(tab, 'page');
    for (const device of ['New laptop', 'Tablet', 'Workstation']) {
      expect(await activate(device, device)).toBe(403);
      await pressTheButton(tab);
      expect(await tab.text()).toContain('The device is freed. Another device can now use the licence.');
      expect(await activate(device, device)).toBe(200);
      await tab.open(url);
      expect(await tab.text()).toContain(`${device}\nIn use since`);
    }
    expect(await tab.text()).toContain('You have exchanged all 3 devices that you can exchange in 2026.');
    expect(await tab.text()).toContain('Until then, ask Ada Soft.');
    expect(await tab.evaluate('document.querySelectorAll("button").length')).toBe(0);
    await keepPicture(tab, 'no-moves');
    await tab.open(url.slice(0, -1));
    expect(await tab.text()).toContain('This address does not work');
    expect(await findings(tab)).toEqual([]);
    await keepPicture(tab, 'invalid');
  });

  it.each([
    ['wide', 1_280, 'light', 'en'],
    ['narrow', 320, 'light', 'de'],
    ['wide-dark', 1_280, 'dark', 'fr'],
    ['narrow-dark', 320, 'dark', 'en'],
  ])('fits, reads well and has no findings of axe: %s', async (name, width, scheme, acceptLanguage) => {
    const { service, url } = await openShop();
    await using _ = service;
    await using tab = await openTab(chromium ?? '');
    await tab.send('Emulation.setDeviceMetricsOverride', { width, height: 800, deviceScaleFactor: 1, mobile: false });
    await tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    await tab.send('Network.enable');
    await tab.send('Network.setExtraHTTPHeaders', { headers: { 'Accept-Language': acceptLanguage } });
    await tab.open(url);
    expect(await tab.evaluate('document.documentElement.lang')).toBe(acceptLanguage);
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    const background = await tab.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor');
    expect(background).toBe(scheme === 'dark' ? 'rgb(23, 24, 28)' : 'rgb(255, 255, 255)');
    await keepPicture(tab, name);
    expect(await findings(tab)).toEqual([]);
  });
});
