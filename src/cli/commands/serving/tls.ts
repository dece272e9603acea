import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readPrivateFile } from '../../config/files.ts';
import type { CommandContext } from '../../context.ts';
import { codeOf, LocalError, UsageError } from '../../failure/errors.ts';
import { readText } from '../../values/files.ts';

/** PEM texts. */
interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

interface TlsOptions {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}

/** Throws `LocalError` if they do not belong together, or others can read the key. */
export async function readTls(
  { tlsCert, tlsKey }: TlsOptions,
  { io, flags }: Pick<CommandContext, 'io' | 'flags'>,
): Promise<TlsFiles | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  const tls = {
    cert: await readText(tlsCert, io),
    key: tlsKey === '-' ? await readText(tlsKey, io) : readPrivateFile(tlsKey, io, flags),
  };
  const problem = pairProblem(tls);
  if (problem === null) return tls;
  throw new LocalError(`${tlsCert} and ${tlsKey} are not a certificate and its key (${problem})`, [
    'Both are whole texts in PEM form; the key has no passphrase.',
  ]);
}

/** The code of OpenSSL's error; null if certificate and key belong together. */
function pairProblem(tls: TlsFiles): string | null {
  try {
    createSecureContext(tls);
    return null;
  } catch (error) {
    return codeOf(error);
  }
}

/** Null if the certificate is valid at this time (milliseconds since 1970). */
export function datesProblem({ cert }: TlsFiles, now: number): string | null {
  const { validFrom, validTo } = new X509Certificate(cert);
  if (Date.parse(validFrom) > now) return `the certificate is not valid before ${validFrom}`;
  return Date.parse(validTo) < now ? `the certificate expired on ${validTo}` : null;
}

/** Reads certificate and key again at each SIGHUP; open connections keep the old ones. */
export function reloadOnHangup(
  values: TlsOptions,
  server: { reloadTls(tls: TlsFiles): void },
  context: CommandContext,
): void {
  const { io, say, onClose } = context;
  const reload = async (): Promise<void> => {
    const tls = await readTls(values, context);
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
