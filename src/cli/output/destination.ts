import { createHash } from 'node:crypto';
import { closeSync, fchmodSync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '../config/files.ts';
import { codeOf, emptyValue, LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { quote } from './words.ts';

/** The file of `-o`, opened before a request is sent so that a file that cannot be written is noticed. */
export interface Destination {
  write(text: Text, options: WriteOptions): Promise<void>;
  /** Removes the temporary file; does nothing after `write`. */
  discard(): void;
}

interface WriteOptions {
  /** Whether only its owner may read the file. */
  readonly secret?: boolean;
  /** Called with the SHA-256 of the text before the file gets its name. */
  readonly beforeFile?: (digest: string) => void;
}

export type Text = string | AsyncIterable<string>;

/** Opens a temporary file that replaces the destination once it is complete. Throws `LocalError`. */
export function openDestination(path: string, force: boolean, io: Io): Destination {
  const full = resolve(io.cwd, path);
  const { replaced, temporary, file } = open(path, full, force, io);
  let isOpen = true;
  const discard = (): void => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(file);
    rmSync(temporary, { force: true });
  };
  return {
    discard,
    write: async (text, { secret = false, beforeFile }) => {
      try {
        if (!secret) fchmodSync(file, replaced ? replaced.mode & 0o777 : 0o644 & ~io.umask);
        const digest = createHash('sha256');
        for await (const part of typeof text === 'string' ? [text] : text) {
          writeFileSync(file, part);
          digest.update(part);
        }
        fsyncSync(file);
        beforeFile?.(digest.digest('hex'));
        renameSync(temporary, full);
        isOpen = false;
        closeSync(file);
        syncFolder(dirname(full));
      } catch (error) {
        discard();
        throw error;
      }
    },
  };
}

function open(path: string, full: string, force: boolean, io: Io) {
  if (path === '') throw emptyValue('--output');
  try {
    const replaced = lstatSync(full, { throwIfNoEntry: false });
    if (replaced?.isFile() === false) throw refusal(`${path} is not a file`, `Name a file, or use > ${quote(path)}`);
    if (replaced && !force) throw refusal(`${path} exists`, 'Name another file, or overwrite it with --force.');
    // A name of its own: the name of the file may have the maximum length.
    const temporary = join(dirname(full), `.lkm-${io.uuid()}.tmp`);
    // A process that has opened a file can read it even after its mode is changed.
    return { replaced, temporary, file: openSync(temporary, 'wx', 0o600) };
  } catch (cause) {
    if (cause instanceof LocalError) throw cause;
    if (codeOf(cause) === 'ENOENT') throw refusal(`the folder of ${path} does not exist`, 'Make it first.');
    throw new LocalError(`cannot write ${path} (${codeOf(cause)})`, ['Nothing was sent.'], { cause });
  }
}

const refusal = (message: string, hint: string): LocalError => new LocalError(message, [`Nothing was sent. ${hint}`]);
