import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { createSecureContext } from 'node:tls';
import { readPrivateFile, syncFolder, writeAtomically } from '../../config/files.ts';
import { isPostgres } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf, LocalError, UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { readText } from '../../values/files.ts';

/** A certificate and its key, as the files have them (PEM). */
interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

interface TlsOptions {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

/** Reads `--tls-cert` and `--tls-key`. Throws `LocalError` when they do not go together, or others can read the key. */
export async function readTls({ tlsCert, tlsKey }: TlsOptions, io: Io): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  const tls = await readFiles({ tlsCert, tlsKey }, io);
  const problem = pairProblem(tls);
  if (problem === null) return tls;
  throw new LocalError(`${tlsCert} and ${tlsKey} are not a certificate and its key (${problem})`, [
    'Both are whole texts in PEM form; the key has no passphrase.',
  ]);
}

const readFiles = async ({ tlsCert, tlsKey }: Readonly<Record<keyof TlsOptions, string>>, io: Io) => ({
  cert: await readText(tlsCert, io),
  key: tlsKey === '-' ? await readText(tlsKey, io) : readPrivateFile(tlsKey, io),
});

/** What OpenSSL has against a certificate and a key, as the code of its error; null when they belong together. */
function pairProblem(tls: TlsFiles): string | null {
  try {
    createSecureContext(tls);
    return null;
  } catch (error) {
    return codeOf(error);
  }
}

/** Why a certificate is not valid at a time (milliseconds since 1970); null when it is. */
export function datesProblem({ cert }: TlsFiles, now: number): string | null {
  const { validFrom, validTo } = new X509Certificate(cert);
  if (Date.parse(validFrom) > now) return `the certificate is not valid before ${validFrom}`;
  return Date.parse(validTo) < now ? `the certificate expired on ${validTo}` : null;
}

/** Where a server that signs its certificate itself keeps it and its key: beside the database. */
export const selfSignedFiles = (db: string) => ({
  tlsCert: `${db}-tls-cert.pem`,
  tlsKey: `${db}-tls-key.pem`,
});

const DAY_MS = 86_400_000;
const VALID_DAYS = 730;
/** How long before it expires the next start makes another. */
const RENEW_BEFORE_DAYS = 60;
/** A clock may have been set back a little since. */
const EARLIER_MS = 3_600_000;

/** Reads the certificate and key that a server has signed itself, or makes them, for their owner alone. Throws `LocalError`. */
export async function openSelfSigned(
  { db, host, ...given }: TlsOptions & { readonly db: string; readonly host: string },
  create: (options: { names: readonly string[]; from: number; until: number }) => TlsFiles,
  io: Io,
): Promise<TlsFiles> {
  if (given.tlsCert !== undefined || given.tlsKey !== undefined) {
    throw new UsageError('--tls-self-signed makes a certificate, and --tls-cert and --tls-key name one; give either');
  }
  if (isPostgres(db)) {
    throw new UsageError('--tls-self-signed keeps its key beside a database file, and PostgreSQL has none', [
      'Give a certificate with --tls-cert and --tls-key.',
    ]);
  }
  if (['', '::', '0.0.0.0'].includes(host)) {
    throw new UsageError(
      `--tls-self-signed needs the host name or address that clients use; --host ${host} is not one`,
    );
  }
  const files = selfSignedFiles(db);
  const now = io.now();
  if (existsSync(files.tlsCert) && existsSync(files.tlsKey)) {
    const found = await readFiles(files, io);
    // They are two files: a process that was killed between them has left a new key with the old certificate.
    if (pairProblem(found) === null && isGoodFor(new X509Certificate(found.cert), host, now)) return found;
  }
  const names = [...new Set(['localhost', '127.0.0.1', '::1', host])];
  const made = create({ names, from: now - EARLIER_MS, until: now + VALID_DAYS * DAY_MS });
  try {
    mkdirSync(dirname(files.tlsKey), { recursive: true, mode: 0o700 });
    writeAtomically(files.tlsKey, made.key, 0o600, io);
    writeAtomically(files.tlsCert, made.cert, 0o600, io);
    syncFolder(dirname(files.tlsKey));
  } catch (cause) {
    throw new LocalError(`cannot write ${files.tlsKey} (${codeOf(cause)})`, [], { cause });
  }
  return made;
}

function isGoodFor(certificate: X509Certificate, host: string, now: number): boolean {
  const isNamed = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  const leftMs = Date.parse(certificate.validTo) - now;
  return isNamed !== undefined && Date.parse(certificate.validFrom) <= now && leftMs > RENEW_BEFORE_DAYS * DAY_MS;
}

/** Reads certificate and key anew at each SIGHUP; connections that are open keep the old ones. */
export function reloadOnHangup(
  values: TlsOptions,
  server: { reloadTls(tls: TlsFiles): void },
  { io, say, onClose }: CommandContext,
): void {
  const reload = async (): Promise<void> => {
    const tls = await readTls(values, io);
    if (tls === undefined) return;
    const problem = datesProblem(tls, io.now());
    if (problem !== null) throw new LocalError(problem);
    server.reloadTls(tls);
  };
  const stop = io.onHangup(() => {
    void reload().then(
      () => say({ tone: 'done', text: 'certificate and key read again' }),
      ({ message }: Error) => say({ tone: 'warning', text: `certificate and key stay as they were: ${message}` }),
    );
  });
  onClose(async () => stop());
}
