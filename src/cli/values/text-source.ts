import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { LocalError, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';

/** The text that `-` (stdin) or `@FILE` stands for, trimmed; any other text stands for itself. */
export async function readReference(text: string, io: Io): Promise<string> {
  if (text === '-') return readSource('-', io);
  return text.startsWith('@') ? readSource(text.slice(1), io) : text;
}

/** The text of a file, or of stdin for `-`, trimmed. */
export async function readSource(path: string, io: Io): Promise<string> {
  const text = (path === '-' ? await readStdin(io) : readLocalFile(path, io)).trim();
  if (text === '') throw new UsageError(path === '-' ? 'stdin is empty' : `${path} is empty`);
  return text;
}

async function readStdin(io: Io): Promise<string> {
  if (io.stdin.isTTY) throw new UsageError('- reads stdin, and stdin is a terminal: pipe something into it');
  return io.stdin.readText();
}

function readLocalFile(path: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, path), 'utf8');
  } catch (error) {
    throw new LocalError(`cannot read ${path} (${(error as NodeJS.ErrnoException).code})`, [], { cause: error });
  }
}
