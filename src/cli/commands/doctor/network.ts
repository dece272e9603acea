import { type ConnectionOptions, connect, type PeerCertificate } from 'node:tls';
import { NetworkError } from '../../../client/errors.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { type Check, fail, failed, ok, warn } from './check.ts';

/** Which proxy requests to an address go through, as undici reads the environment. */
export function proxyFor(baseUrl: string, isLoopback: boolean, env: Io['env']): { check: Check; isUsed: boolean } {
  const { protocol, hostname, port } = new URL(baseUrl);
  const proxy = protocol === 'https:' ? env.https_proxy || env.HTTPS_PROXY : env.http_proxy || env.HTTP_PROXY;
  if (!proxy) return { check: ok('proxy', 'none'), isUsed: false };
  const address = URL.parse(proxy);
  // Without the name and password that it may hold.
  const shown = address === null ? 'a proxy' : `${address.protocol}//${address.host}`;
  if (isLoopback) return { check: ok('proxy', `${shown} is passed by: the service is on this machine`), isUsed: false };
  const entries = (env.no_proxy || env.NO_PROXY || '')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  if (isPassedBy(entries, hostname, port || (protocol === 'https:' ? '443' : '80'))) {
    return { check: ok('proxy', `${shown} is passed by, as NO_PROXY says`), isUsed: false };
  }
  const isUsed = address !== null && /^https?:\/\//.test(proxy);
  const check = isUsed
    ? ok('proxy', `${shown}, from the environment`)
    : warn('proxy', 'the address in the environment cannot be read', 'It has the form http://proxy.example:3128.');
  return { check, isUsed };
}

/** `example.com` is that name and all below it, `.example.com` and `*.example.com` all below it; `*` all there are. */
const isPassedBy = (entries: readonly string[], hostname: string, port: string): boolean =>
  ['*', hostname, `${hostname}:${port}`].some((whole) => entries.includes(whole)) ||
  entries.some((entry) => hostname.endsWith(`.${entry.replace(/^\*?\./, '')}`));

const DAY_MS = 86_400_000;

/** A certificate that expires sooner is probably not renewed by itself. */
const SOON_DAYS = 14;

/** Connects to a service as the client does, and looks at its certificate. `now` is in milliseconds since 1970. */
export async function examineTls(
  href: string,
  { timeoutMs, now, ca }: { readonly timeoutMs: number; readonly now: number; readonly ca: string | undefined },
): Promise<Check> {
  const { hostname, port } = new URL(href);
  const host = hostname.replace(/^\[|\]$/g, '');
  try {
    const { protocol, certificate } = await handshake({ host, port: Number(port || 443), timeout: timeoutMs, ca });
    return judgeDates(certificate, protocol, now);
  } catch (cause) {
    const call = { operation: 'TLS', idempotencyKey: null, attempts: 1 };
    const message = `cannot connect to ${host}: ${cause instanceof Error ? cause.message : ''}`;
    return failed('tls')(new NetworkError(message, { call, sent: false, timedOut: false }, { cause }));
  }
}

function judgeDates({ valid_from, valid_to }: PeerCertificate, protocol: string, now: number): Check {
  const advice = 'It should be renewed at the service.';
  const days = Math.floor((Date.parse(valid_to) - now) / DAY_MS);
  if (Date.parse(valid_from) > now) {
    return fail('tls', `${protocol}, the certificate is not valid before ${valid_from}`, advice);
  }
  if (days < 0) return fail('tls', `${protocol}, the certificate expired on ${valid_to}`, advice);
  const detail = `${protocol}, the certificate expires in ${count(days, 'day')}`;
  return days >= SOON_DAYS ? ok('tls', detail) : warn('tls', detail, advice);
}

function handshake({ host, ...options }: ConnectionOptions & { readonly host: string }) {
  return new Promise<{ protocol: string; certificate: PeerCertificate }>((resolve, reject) => {
    const servername = /^[\d.]+$|:/.test(host) ? '' : host;
    const socket = connect({ ...options, host, servername }, () => {
      resolve({ protocol: socket.getProtocol() ?? 'TLS', certificate: socket.getPeerCertificate() });
      socket.destroy();
    });
    socket.once('timeout', () => socket.destroy(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })));
    socket.once('error', reject);
  });
}
