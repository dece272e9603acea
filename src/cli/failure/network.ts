import type { NetworkError } from '../../client/errors.ts';

/** A connection that was not made, in words; null when the system's own are all there is. */
export function explainConnection(error: NetworkError): { readonly message: string; readonly hint: string } | null {
  const host = /cannot connect to ([^\s]+):/.exec(error.message)?.[1] ?? 'the service';
  for (const code of codesOf(error)) {
    const known = sentences.find(([pattern]) => pattern.test(code));
    if (known) return { message: `cannot connect to ${host}: ${known[1]}`, hint: known[2] };
  }
  return null;
}

/** Node's and OpenSSL's codes, what they mean, and what to do. */
const sentences: readonly (readonly [code: RegExp, meaning: string, hint: string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens there (ECONNREFUSED)', 'Is the service running, and is this its address?'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its name cannot be resolved', 'Check the name and the network.'],
  [/^(EHOSTUNREACH|ENETUNREACH)$/, 'the network has no way to it', 'Check the network.'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'it does not accept the connection in time', 'Check the network.'],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(VERIFY|GET_ISSUER)|INVALID_CA/,
    'its certificate is not signed by an authority that this machine trusts',
    'If it is your own authority, name its certificate in NODE_EXTRA_CA_CERTS.',
  ],
  [/^CERT_HAS_EXPIRED$/, 'its certificate has expired', 'It must be renewed at the service; check the clock here too.'],
  [/^CERT_NOT_YET_VALID$/, 'its certificate is not valid yet', 'Check the clock of this machine.'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'its certificate is for another name', 'Use the name that the certificate has.'],
  [/^(CERT_|CRL_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_)/, 'its certificate cannot be verified', 'Check it.'],
  [
    /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    'it does not speak TLS',
    'Check the port, or use http:// for a service on this machine.',
  ],
  [/^ERR_SSL_/, 'the TLS handshake failed', 'Check the address, and what stands before the service.'],
];

/** The codes of an error and its causes, from the outside in; several addresses give several. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 8) return [];
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : [];
  const within = error instanceof AggregateError ? error.errors : [error.cause];
  return [...within.flatMap((one) => codesOf(one, depth + 1)), ...own];
}
