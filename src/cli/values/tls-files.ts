import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readPrivateFile } from '../config/files.ts';
import { LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { readText } from './files.ts';

/** A certificate and its key, as the files have them (PEM). */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Where they are. */
export interface TlsOptions {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

/**
 * Reads the files of `--tls-cert` and `--tls-key`; undefined when none is given. Throws `LocalError` when they are not a
 * certificate and the key of that certificate, or when others can read the key.
 */
export async function readTls({ tlsCert, tlsKey }: TlsOptions, io: Io): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  const pair = await readPair({ tlsCert, tlsKey }, io);
  if (pair === null) throw new LocalError(`${tlsKey} is not the key of the certificate in ${tlsCert}`);
  return pair;
}

type TlsPaths = Readonly<Record<keyof TlsOptions, string>>;

/** Reads a certificate and a key; null when they do not belong together. Throws `LocalError` as `readTls` does. */
export async function readPair({ tlsCert, tlsKey }: TlsPaths, io: Io): Promise<TlsFiles | null> {
  const cert = await readText(tlsCert, io);
  const key = tlsKey === '-' ? await readText(tlsKey, io) : readPrivateFile(tlsKey, io);
  const certificate = parsed(() => new X509Certificate(cert), tlsCert, 'a certificate', 'CERTIFICATE');
  const privateKey = parsed(() => createPrivateKey(key), tlsKey, 'a private key without a passphrase', 'PRIVATE KEY');
  if (!certificate.checkPrivateKey(privateKey)) return null;
  const what = 'certificates that OpenSSL takes, each of them whole and with a key that is long enough';
  parsed(() => createSecureContext({ cert, key }), tlsCert, what, 'CERTIFICATE');
  return { cert, key };
}

/** Why a certificate is not valid at a time (milliseconds since 1970); null when it is. */
export function datesProblem({ cert }: TlsFiles, now: number): string | null {
  const { validFrom, validTo } = new X509Certificate(cert);
  if (Date.parse(validFrom) > now) return `the certificate is not valid before ${validFrom}`;
  return Date.parse(validTo) < now ? `the certificate expired on ${validTo}` : null;
}

/** OpenSSL's own text is left out: it names a file of its source and says nothing of this one. */
function parsed<T>(parse: () => T, path: string, what: string, label: string): T {
  try {
    return parse();
  } catch (cause) {
    const hint = `It is a text in PEM form, with a line that ends in "${label}-----".`;
    throw new LocalError(`${path} does not hold ${what}`, [hint], { cause });
  }
}
