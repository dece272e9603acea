import { type ConnectionOptions, connect, type PeerCertificate } from 'node:tls';
import { NetworkError } from '../../../client/errors.ts';
import { type HttpProxy, proxyFor } from '../../../client/proxy.ts';
import type { Io } from '../../io.ts';
import { count } from '../../output/words.ts';
import { type Check, fail, failed, ok, warn } from './check.ts';

/** The proxy that requests to an address go through, if any. */
export function checkProxy(
  baseUrl: string,
  isLoopback: boolean,
  env: Io['env'],
): { readonly check: Check; readonly proxy: HttpProxy | null } {
  try {
    const proxy = isLoopback ? null : proxyFor(baseUrl, env);
    if (proxy !== null) return { check: ok('proxy', `${proxy.shown}, from the environment`), proxy };
    const isNamed = ['https_proxy', 'http_proxy'].some((name) => env[name] || env[name.toUpperCase()]);
    const why = isLoopback ? 'the service is on this machine' : 'NO_PROXY has the service';
    return { check: ok('proxy', isNamed ? `passed by: ${why}` : 'none'), proxy };
  } catch (error) {
    return {
      check: warn('proxy', String(Object(error).message), 'It has the form http://proxy.example:3128.'),
      proxy: null,
    };
  }
}

const DAY_MS = 86_400_000;

/** A certificate that expires sooner is probably not renewed by itself. */
const SOON_DAYS = 14;

/** Connects to a service as the client does, and looks at its certificate. `now` is in milliseconds since 1970. */
export async function examineTls(
  href: string,
  { timeoutMs, now, ca }: { readonly timeoutMs: number; readonly now: number; readonly ca?: string },
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
