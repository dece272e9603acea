import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { onDisk, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { openDecoder, trimmed } from './text.ts';

/** Reads the text of `-` (stdin) or `@FILE`, trimmed; returns other text unchanged. */
export async function readReference(text: string, io: Io): Promise<string> {
  if (text === '-') return readText('-', io);
  return text.startsWith('@') ? readText(text.slice(1), io) : text;
}

/** Reads a file, or stdin for `-`, trimmed. Throws `UsageError` if it is empty. */
export async function readText(path: string, io: Io): Promise<string> {
  const text = trimmed(await readWholeText(path, io));
  if (text === '') throw new UsageError(path === '-' ? 'stdin is empty' : `${path} is empty`);
  return text;
}

/** Reads a file, or stdin for `-`, unchanged. */
export async function readWholeText(path: string, io: Io): Promise<string> {
  if (path !== '-') return openDecoder(path).decode(readLocalBytes(path, io), true);
  if (io.stdin.isTTY) throw new UsageError('- reads stdin, and stdin is a terminal: pipe something into it');
  return openDecoder('stdin').decode(Buffer.concat(await Array.fromAsync(io.stdin.chunks())), true);
}

/** Undefined if there is no such file. */
export const readIfPresent = (path: string, io: Io): string | undefined =>
  existsSync(resolve(io.cwd, path)) ? readLocalFile(path, io) : undefined;

/** Reads UTF-8. `check` gets the open file before it is read. Throws `LocalError`. */
export const readLocalFile = (path: string, io: Pick<Io, 'cwd'>, check?: (file: number) => void): string =>
  readLocalBytes(path, io, check).toString();

const readLocalBytes = (path: string, { cwd }: Pick<Io, 'cwd'>, check?: (file: number) => void): Buffer =>
  onDisk(`read ${path}`, () => {
    const file = openSync(resolve(cwd, path), 'r');
    try {
      check?.(file);
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  });
