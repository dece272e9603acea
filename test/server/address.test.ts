import { describe, expect, it } from 'vitest';
import { trustProxies } from '../../src/server/http/client-address.ts';

const PROXY = '10.0.0.1';
const CALLER = '203.0.113.7';
const SPOOFED = '198.51.100.1';

describe('trustProxies', () => {
  it.each([
    ['takes the peer when no proxy is trusted', [], CALLER, null, CALLER],
    ['does not believe X-Forwarded-For of a caller', [], CALLER, SPOOFED, CALLER],
    ['does not believe it of a peer outside the networks of the proxies', ['10.0.0.0/8'], CALLER, SPOOFED, CALLER],
    ['takes what a proxy says', ['10.0.0.0/8'], PROXY, CALLER, CALLER],
    ['takes a single address as a network', [PROXY], PROXY, CALLER, CALLER],
    ['takes a network that is every address', ['0.0.0.0/0'], PROXY, CALLER, CALLER],
    ['takes the last hop, not what the caller wrote before it', [PROXY], PROXY, `${SPOOFED}, ${CALLER}`, CALLER],
    ['skips further proxies', ['10.0.0.0/8'], PROXY, `${SPOOFED}, ${CALLER}, 10.9.9.9`, CALLER],
    ['takes the first proxy when there are only proxies', ['10.0.0.0/8'], PROXY, '10.9.9.9', '10.9.9.9'],
    ['takes the proxy when it says nothing', [PROXY], PROXY, null, PROXY],
    ['takes the proxy when it says an empty text', [PROXY], PROXY, '', PROXY],
    ['takes nobody for the proxy when it says what is no address', [PROXY], PROXY, 'unknown', '0.0.0.0'],
    ['stops at what is no address', [PROXY], PROXY, `${CALLER}, <script>, ${PROXY}`, '0.0.0.0'],
    ['reads an address with its port', [PROXY], PROXY, `${CALLER}:4711`, CALLER],
    ['reads an IPv6 address with its port', [PROXY], PROXY, '[2a00::7]:4711', '2a00::7'],
    ['reads an IPv6 address in brackets', [PROXY], PROXY, '[2a00::7]', '2a00::7'],
    ['takes no port for an address', [PROXY], PROXY, ':4711', '0.0.0.0'],
    ['leaves empty members out', [PROXY], PROXY, `${CALLER}, , `, CALLER],
    ['writes an address in one way', [PROXY], PROXY, '2A00:0:0:0:0:0:0:7', '2a00::7'],
    ['writes an IPv4 address of any notation as IPv4', [PROXY], PROXY, `0:0:0:0:0:ffff:${CALLER}`, CALLER],
    ['drops the zone of a hop', [PROXY], PROXY, 'fe80::1%eth0', 'fe80::1'],
    ['drops white space', [PROXY], PROXY, `  ${CALLER}\t`, CALLER],
    ['takes IPv6', ['2001:db8::/32'], '2001:db8::1', '2a00::7', '2a00::7'],
    ['does not take one IPv6 network for another', ['2001:db8::/32'], '2001:db9::1', '2a00::7', '2001:db9::1'],
    ['reads an IPv4 peer of a dual-stack socket', ['10.0.0.0/8'], '::ffff:10.0.0.1', CALLER, CALLER],
    ['shows an IPv4 peer of a dual-stack socket as IPv4', [], `::ffff:${CALLER}`, null, CALLER],
    ['takes a link-local peer with its zone', ['10.0.0.0/8'], 'fe80::1%eth0', CALLER, 'fe80::1%eth0'],
    ['takes a short form of IPv4 for no address', [PROXY], PROXY, '10.1', '0.0.0.0'],
    ['reads an IPv4 network of a dual-stack notation', ['::ffff:10.0.0.1'], PROXY, CALLER, CALLER],
  ])('%s', (_, proxies, peer, forwardedFor, address) => {
    expect(trustProxies(proxies)(peer, forwardedFor)).toBe(address);
  });

  it.each([
    ...['localhost', '', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8.5', '10.0.0.0/x', '10.0.0.0/', '10.0.0.0/0x8'],
    ...['10.0.0.0/8/8', '10.0.0/8', '2001:db8::/129'],
  ])('refuses %j, which is no network', (network) => {
    expect(() => trustProxies([network])).toThrow(new TypeError(`${network} is not a network in CIDR notation`));
  });
});
