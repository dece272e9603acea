import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readPrivateFile } from '../config/files.ts';
import { codeOf, LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';

/** The text that `-` (stdin) or `@FILE` stands for, trimmed; any other text stands for itself. */
export async function readReference(text: string, io: Io): Promise<string> {
  if (text === '-') return readText('-', io);
  return text.startsWith('@') ? readText(text.slice(1), io) : text;
}

/** The text of a file, or of stdin for `-`, trimmed; it must not be empty. */
export async function readText(path: string, io: Io): Promise<string> {
  const text = (await readWholeText(path, io)).trim();
  if (text === '') throw new UsageError(path === '-' ? 'stdin is empty' : `${path} is empty`);
  return text;
}

/** The text of a file, or of stdin for `-`, as it is. */
export const readWholeText = async (path: string, io: Io): Promise<string> =>
  path === '-' ? readStdin(io) : readLocalFile(path, io);

/** The text of a file, or undefined when there is no such file. */
export function readIfPresent(path: string, io: Io): string | undefined {
  return existsSync(resolve(io.cwd, path)) ? readLocalFile(path, io) : undefined;
}

async function readStdin(io: Io): Promise<string> {
  if (io.stdin.isTTY) throw new UsageError('- reads stdin, and stdin is a terminal: pipe something into it');
  return io.stdin.readText();
}

function readLocalFile(path: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, path), 'utf8');
  } catch (error) {
    throw new LocalError(`cannot read ${path} (${codeOf(error)})`, [], { cause: error });
  }
}

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
  const cert = await readText(tlsCert, io);
  const key = tlsKey === '-' ? await readText(tlsKey, io) : readPrivateFile(tlsKey, io);
  const certificate = parsed(() => new X509Certificate(cert), tlsCert, 'a certificate', 'CERTIFICATE');
  const privateKey = parsed(() => createPrivateKey(key), tlsKey, 'a private key without a passphrase', 'PRIVATE KEY');
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new LocalError(`${tlsKey} is not the key of the certificate in ${tlsCert}`);
  }
  return { cert, key };
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
