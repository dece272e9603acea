import { expect, it } from 'vitest';
import { startTestServer } from '../support/server.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

it('shows the reference from its own files only, under a policy that runs nothing inline', async () => {
  await using server = await startTestServer();
  const { url } = server.server;
  const page = await fetch(`${url}/docs`, { headers: { accept: BROWSER } });
  const html = await page.text();
  expect(page.headers.get('content-security-policy')).toBe(POLICY);
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('set-cookie')).toBeNull();
  expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|https?:/);

  const loaded = [...html.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, path]) => path);
  expect(loaded.sort()).toEqual(['docs/page.css', 'docs/page.js', 'docs/swagger-ui-bundle.js', 'docs/swagger-ui.css']);
  for (const path of loaded) {
    const response = await fetch(`${url}/${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(path?.endsWith('.css') ? /^text\/css/ : /^text\/javascript/);
    expect((await response.text()).length).toBeGreaterThan(100);
  }
  const script = await (await fetch(`${url}/docs/page.js`)).text();
  expect(script).toContain('validatorUrl: null');
});

it('works below a path of a proxy: no link of it is absolute', async () => {
  await using server = await startTestServer();
  for (const path of ['/', '/docs', '/docs/page.js']) {
    const text = await (await fetch(server.server.url + path, { headers: { accept: BROWSER } })).text();
    expect(text).not.toMatch(/(src|href)="\/|url: '\//);
  }
  const document: unknown = await (await fetch(`${server.server.url}/openapi.json`)).json();
  expect(document).toMatchObject({ servers: [{ url: '.' }] });
});

it('serves nothing else of the package there, and takes no other method', async () => {
  await using server = await startTestServer();
  for (const path of ['/docs/', '/docs/LICENSE', '/docs/../package.json', '/docs/%2e%2e/package.json']) {
    expect((await fetch(server.server.url + path)).status).toBe(404);
  }
  expect((await fetch(`${server.server.url}/docs`, { method: 'POST' })).status).toBe(405);
});
