import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { readPrivateFile, type SecretFlags } from './files.ts';

export const masterKeyVariables = ['LKM_MASTER_KEY_FILE', 'LKM_MASTER_KEY'] as const;

/** The master key of the environment, or null. Throws `UsageError` for two or a malformed key, `LocalError` for a file. */
export function readMasterKey(io: Io, flags: SecretFlags): Uint8Array | null {
  const [name, other] = masterKeyVariables.filter((variable) => io.env[variable]);
  if (name === undefined) return null;
  if (other !== undefined) throw new UsageError(`${name} and ${other} name two master keys; set one of them`);
  const value = io.env[name] ?? '';
  return name === 'LKM_MASTER_KEY' ? parseKey(value, name) : readKeyFile(value, io, flags);
}

export const readKeyFile = (path: string, io: Io, flags: SecretFlags): Uint8Array =>
  parseKey(readThere(path, io, flags).trim(), path);

function readThere(path: string, io: Io, flags: SecretFlags): string {
  if (existsSync(resolve(io.cwd, path))) return readPrivateFile(path, io, flags);
  throw new LocalError(`${path} is not there`, [['A new key:', `(umask 077; openssl rand -base64 32 > ${path})`]]);
}

/** Decodes base64 of either alphabet. Errors do not contain the text. */
function parseKey(text: string, from: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(text) && bytes.length === 32) return bytes;
  const hint = ['A new key:', 'openssl rand -base64 32'] as const;
  throw new UsageError(`${from} does not hold a master key: 32 bytes in base64`, [hint]);
}
