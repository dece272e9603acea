import { createServer } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { proxyFor } from '../../src/client/proxy.ts';
import { createClient, NetworkError } from '../../src/index.ts';
import { listen, unusedAddress } from './loopback.ts';

afterEach(() => void vi.unstubAllEnvs());

const HTTPS_PROXY = 'http://me:secret@proxy.example:3128';
const service = 'https://lic.example:8443/lkm';

describe('the proxy of the environment', () => {
  it.each([
    ['http://me:secret@proxy.example:3128', 'http://proxy.example:3128'],
    ['https://proxy.example', 'https://proxy.example'],
    ['proxy.example:3128', 'http://proxy.example:3128'],
    ['me:secret@proxy.example', 'http://proxy.example'],
    ['[2001:db8::1]:3128', 'http://[2001:db8::1]:3128'],
  ])('%s is shown as %s', (given, shown) => {
    expect(proxyFor(service, { HTTPS_PROXY: given })?.shown).toBe(shown);
  });

  it.each(['ftp://proxy.example', 'http://', 'socks5://proxy.example:1080'])('%s is refused', (given) => {
    expect(() => proxyFor(service, { https_proxy: given })).toThrow('cannot be read');
  });

  it.each([
    ['', service, true],
    ['*', service, false],
    ['LIC.example', service, false],
    ['example', service, false],
    ['.example', service, false],
    ['*.example', service, false],
    ['xample', service, true],
    ['lic.example:8443', service, false],
    ['lic.example:443', service, true],
    ['other,  lic.example.', service, false],
    ['10.0.0.0/8', 'https://10.1.2.3', false],
    ['10.0.0.0/8', 'https://11.1.2.3', true],
    ['10.1.2.3', 'https://10.1.2.3', false],
    ['10.1.2.3/32:444', 'https://10.1.2.3', true],
    ['2001:db8::/32', 'https://[2001:db8::7]', false],
    ['[2001:db8::7]:443', 'https://[2001:db8::7]', false],
    ['2001:db8::/32', 'https://[2001:db9::7]', true],
    ['10.0.0.0/33 10.0.0.0/x /8', 'https://10.1.2.3', true],
    ['0.0.0.0/0', service, true],
  ])('with NO_PROXY=%j stands before %s: %s', (NO_PROXY, href, isUsed) => {
    expect(proxyFor(href, { HTTPS_PROXY, NO_PROXY }) !== null).toBe(isUsed);
  });
});

describe('what a proxy does wrong', () => {
  async function failureThrough(proxy: string): Promise<NetworkError> {
    vi.stubEnv('https_proxy', proxy);
    vi.stubEnv('no_proxy', '');
    const client = createClient({ baseUrl: service, token: 'lkm_admin_x', maxRetries: 0 });
    const error = await client.keys.create({ productId: 'prod_01jx0000000000000000000000' }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ sent: false, message: expect.not.stringContaining('secret') });
    return error as NetworkError;
  }

  /** A proxy that answers each request for a tunnel so. */
  async function answering(head: string): Promise<string> {
    const proxy = createServer();
    proxy.on('connect', (_, socket) => socket.end(`HTTP/1.1 ${head}\r\n\r\n`));
    return `http://me:secret@${await listen(proxy)}`;
  }

  it('is told of the proxy where that cannot be reached', async () => {
    const { host } = new URL(await unusedAddress());
    const { message } = await failureThrough(host);
    expect(message).toMatch(new RegExp(`^cannot connect to the proxy http://${host}: connect ECONNREFUSED`));
  });

  it.each([
    ['407 Proxy Authentication Required', 'wants a user name and a password (407)'],
    ['403 Forbidden', 'made no connection to lic.example:8443: it answered 403'],
  ])('is told of the proxy that answers %s', async (head, says) => {
    const proxy = await answering(head);
    const { message } = await failureThrough(proxy);
    expect(message).toBe(`the proxy http://${new URL(proxy).host} ${says}`);
  });
});
