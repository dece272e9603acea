import type { NetworkError } from '../../client/errors.ts';

/** Explains why a connection failed; null for unknown causes. */
export function explainConnection(error: NetworkError): { readonly message: string; readonly hint: string } | null {
  const host = /cannot connect to (.+?): /.exec(error.message)?.[1] ?? 'the service';
  const ofProxy = proxyHints.find(([pattern]) => pattern.test(error.message));
  if (ofProxy && !host.startsWith('the proxy')) return { message: error.message, hint: ofProxy[1] };
  for (const code of codesOf(error)) {
    const known = sentences.find(([pattern]) => pattern.test(code));
    if (known) return { message: `cannot connect to ${host}: ${known[1]}`, hint: ofProxy?.[1] ?? known[2] };
  }
  return null;
}

/** Advice about proxies, by the message. */
const proxyHints: readonly (readonly [message: RegExp, hint: string])[] = [
  [/^the proxy .* wants a user name/, 'Put them into HTTPS_PROXY: http://NAME:PASSWORD@HOST:PORT'],
  [/^the proxy /, 'Ask whoever runs the proxy to let it through, or name the service in NO_PROXY.'],
  [/^cannot connect to the proxy /, 'Is HTTPS_PROXY right? NO_PROXY names hosts that are reached without a proxy.'],
];

const sentences: readonly (readonly [code: RegExp, meaning: string, hint: string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens there (ECONNREFUSED)', 'Is the service running, and is this its address?'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its name cannot be resolved', 'Check the name and the network.'],
  [/^(EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'it cannot be reached', 'Check the network.'],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|INVALID_CA/,
    'its certificate is not signed by an authority that this machine trusts',
    'If it is your own authority, name its certificate in NODE_EXTRA_CA_CERTS.',
  ],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID)$/,
    'its certificate has expired, or is not valid yet',
    'It must be renewed at the service; check the clock here too.',
  ],
  [/ALTNAME_INVALID$|^HOSTNAME_/, 'its certificate is for another name', 'Use the name that the certificate has.'],
  [/^(CERT_|CRL_|UNABLE_TO_|INVALID_)/, 'its certificate cannot be verified', 'Check it.'],
  [/^(ERR_SSL_|EPROTO)/, 'it does not speak TLS', 'Check the port, or use http:// for a service on this machine.'],
];

/** The codes of an error and its causes, innermost first; an attempt at several addresses has several. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const within = error instanceof AggregateError ? error.errors : [error.cause];
  return [...within.flatMap(codesOf), ...own];
}
