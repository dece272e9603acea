import { once } from 'node:events';
import {
  closeSync,
  createWriteStream,
  fchmodSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncFolder } from '../config/files.ts';
import { LocalError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { unwritable } from './standard-output.ts';

/** Where `-o` writes: opened before anything is sent, so that what prevents the writing is known by then. */
export interface Destination {
  /** Writes the whole result, or its parts as they come. A secret is for the owner of the file only. */
  write(text: Text, options: { readonly secret: boolean }): Promise<void>;
  /** Removes what was made for a result that did not come; does nothing after `write`. */
  discard(): void;
}

export type Text = string | AsyncIterable<string>;

async function* partsOf(text: Text): AsyncGenerator<Buffer> {
  if (typeof text === 'string') yield Buffer.from(text);
  else for await (const part of text) yield Buffer.from(part);
}

/** How much is reserved, so that a full disk is noticed before the service has done its part. */
const RESERVED_BYTES = 65_536;

/**
 * Opens the destination of `-o`. A file is replaced with `force` only, all at once, and keeps its mode; a FIFO or a device
 * is written to; replacing a symbolic link would cut it off from its file. Throws `LocalError`.
 */
export async function openDestination(path: string, force: boolean, io: Io): Promise<Destination> {
  const full = resolve(io.cwd, path);
  const target = statIfThere(full, path);
  if (target?.isFIFO() || target?.isCharacterDevice()) return openStream(path, full, io);
  if (statIfThere(full, path, lstatSync)?.isSymbolicLink()) {
    throw refusal(`${path} is a symbolic link`, 'Name the file that it points to; for stdout, -o -.');
  }
  if (target !== null && !target.isFile()) throw refusal(`${path} is not a file`, 'Name a file.');
  if (target !== null && !force) throw refusal(`${path} exists`, 'Name another file, or overwrite it with --force.');
  return openFile(path, full, target, io);
}

const refusal = (message: string, hint: string): LocalError => new LocalError(message, [`Nothing was sent. ${hint}`]);

function statIfThere(full: string, path: string, stat: typeof statSync | typeof lstatSync = statSync): Stats | null {
  try {
    return stat(full, { throwIfNoEntry: false }) ?? null;
  } catch (cause) {
    throw unopened(path, cause);
  }
}

const unopened = (path: string, cause: unknown) => unwritable(path, cause, { hints: ['Nothing was sent.'] });

/** A file beside the destination, which takes its place once it is whole. */
function openFile(path: string, full: string, replaced: Stats | null, io: Io): Destination {
  // Not the name of the file and more: that may be as long as a name can be.
  const aside = join(dirname(full), `.lkm-${io.uuid()}.tmp`);
  const file = reserve(path, full, aside);
  let isOpen = true;
  const discard = (): void => {
    if (!isOpen) return;
    isOpen = false;
    closeSync(file);
    rmSync(aside, { force: true });
  };
  return {
    discard,
    write: async (text, { secret }) => {
      try {
        if (replaced !== null) fchmodSync(file, replaced.mode & 0o777);
        if (secret) fchmodSync(file, 0o600);
        let size = 0;
        for await (const bytes of partsOf(text)) {
          writeFileSync(file, bytes);
          size += bytes.length;
        }
        ftruncateSync(file, size);
        fsyncSync(file);
        renameSync(aside, full);
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

function reserve(path: string, full: string, aside: string): number {
  if (statIfThere(dirname(full), path) === null)
    throw refusal(`the folder of ${path} does not exist`, 'Make it first.');
  let file: number | undefined;
  try {
    file = openSync(aside, 'wx', 0o644);
    // By its name: what is written to `file` then begins at its start.
    writeFileSync(aside, Buffer.alloc(RESERVED_BYTES), { flag: 'r+' });
    return file;
  } catch (cause) {
    if (file !== undefined) closeSync(file);
    rmSync(aside, { force: true });
    throw unopened(path, cause);
  }
}

/** A FIFO or a device stays what it is: the result goes into it. Opening a FIFO waits for its reader. */
async function openStream(path: string, full: string, { stop }: Io): Promise<Destination> {
  // Its errors are those of the calls that wait for it.
  const stream = createWriteStream(full, { signal: stop }).on('error', () => {});
  await once(stream, 'open', { signal: stop }).catch((cause: unknown) => {
    throw unopened(path, cause);
  });
  return {
    discard: () => void stream.destroy(),
    write: async (text) => {
      const { pipeline } = await import('node:stream/promises');
      await pipeline(partsOf(text), stream);
    },
  };
}
