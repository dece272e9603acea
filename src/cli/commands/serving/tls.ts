import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { syncFolder, writeAtomically } from '../../config/files.ts';
import { isPostgres } from '../../config/location.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf, LocalError, UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { datesProblem, readPair, readTls, type TlsFiles, type TlsOptions } from '../../values/tls-files.ts';

/** A server that is to sign its certificate itself. */
export interface SelfSigning extends TlsOptions {
  readonly db: string;
  readonly host: string;
}

/** Where its certificate and its key are: beside the database. */
export const selfSignedFiles = (db: string) => ({
  tlsCert: `${db}-tls-cert.pem`,
  tlsKey: `${db}-tls-key.pem`,
});

const DAY_MS = 86_400_000;

/** How long a certificate is valid. */
const VALID_DAYS = 730;

/** How long before it expires the next start makes another. */
const RENEW_BEFORE_DAYS = 60;

/** A clock may have been set back a little since. */
const EARLIER_MS = 3_600_000;

/** Throws `UsageError` where a server cannot sign its certificate itself. */
export function checkSelfSigning({ db, host, tlsCert, tlsKey }: SelfSigning): void {
  if (tlsCert !== undefined || tlsKey !== undefined) {
    throw new UsageError('--tls-self-signed makes a certificate, and --tls-cert and --tls-key name one; give either');
  }
  if (isPostgres(db)) {
    throw new UsageError('--tls-self-signed keeps its key beside a database file, and PostgreSQL has none', [
      'Give a certificate with --tls-cert and --tls-key.',
    ]);
  }
  if (host === '' || host === '::' || host === '0.0.0.0') {
    throw new UsageError(
      `--tls-self-signed needs the host name or address that clients use; --host ${host || "''"} is not one`,
    );
  }
}

/** What is there of certificate and key; undefined when the next start makes them. Throws `LocalError`. */
export async function readSelfSigned({ db, host }: SelfSigning, io: Io): Promise<TlsFiles | undefined> {
  const files = selfSignedFiles(db);
  if (!existsSync(files.tlsCert) || !existsSync(files.tlsKey)) return undefined;
  // They are two files: a process that was killed between them has left a new key with the old certificate.
  const tls = await readPair(files, io);
  return tls !== null && isGoodFor(new X509Certificate(tls.cert), host, io.now()) ? tls : undefined;
}

/** Reads the certificate and key of a server, or makes them, for their owner alone. Throws `LocalError`. */
export async function openSelfSigned(
  signing: SelfSigning,
  create: (options: { names: readonly string[]; from: number; until: number }) => TlsFiles,
  io: Io,
): Promise<TlsFiles> {
  checkSelfSigning(signing);
  const found = await readSelfSigned(signing, io);
  if (found !== undefined) return found;
  const now = io.now();
  const names = [...new Set(['localhost', '127.0.0.1', '::1', signing.host])];
  const made = create({ names, from: now - EARLIER_MS, until: now + VALID_DAYS * DAY_MS });
  const { tlsCert, tlsKey } = selfSignedFiles(signing.db);
  try {
    mkdirSync(dirname(tlsKey), { recursive: true, mode: 0o700 });
    writeAtomically(tlsKey, made.key, 0o600, io);
    writeAtomically(tlsCert, made.cert, 0o600, io);
    syncFolder(dirname(tlsKey));
  } catch (cause) {
    throw new LocalError(`cannot write ${tlsKey} (${codeOf(cause)})`, [], { cause });
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
  const stop = io.onHangup(() => {
    void (async () => {
      try {
        const tls = await readTls(values, io);
        const problem = tls === undefined ? null : datesProblem(tls, io.now());
        if (problem !== null) throw new LocalError(problem);
        if (tls !== undefined) server.reloadTls(tls);
        await say({ tone: 'done', text: 'certificate and key read again' });
      } catch (error) {
        const text = `certificate and key stay as they were: ${error instanceof Error ? error.message : error}`;
        await say({ tone: 'warning', text });
      }
    })();
  });
  onClose(async () => stop());
}
