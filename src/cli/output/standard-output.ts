import { fstatSync, writeFileSync } from 'node:fs';
import { isatty, type WriteStream } from 'node:tty';
import { codeOf, type Hint, LocalError } from '../failure/errors.ts';
import type { Io, Output } from '../io.ts';

const FALLBACK_COLUMNS = 80;

/** stdout or stderr, opened when it is used. What `reports` rejects with the errors of the system, but not when nobody reads. */
export function outputOf(fd: number, stream: () => WriteStream, { reports }: { readonly reports: boolean }): Output {
  const isTTY = isatty(fd);
  let opened: WriteStream | undefined;
  // Each write reports its own error; an event without a listener would end the process instead.
  const open = () => {
    opened ??= stream().on('error', () => {});
    return opened;
  };
  return {
    isTTY,
    // Read anew each time: a window can be resized. A terminal that nobody gave a size says 0.
    get columns() {
      return (isTTY && open().columns) || FALLBACK_COLUMNS;
    },
    fd,
    async write(text) {
      try {
        // Where a full disk takes a part of a text only, a stream of Node.js says nothing.
        if (isFile(fd)) writeFileSync(fd, text);
        else {
          await new Promise<void>((resolve, reject) => {
            open().write(text, (error) => (error ? reject(error) : resolve()));
          });
        }
        return true;
      } catch (error) {
        if (reports && codeOf(error) !== 'EPIPE') throw error;
        return false;
      }
    },
  };
}

/** How to get what could not be written again. */
export interface Repeat {
  readonly hints?: readonly Hint[];
  readonly idempotencyKey?: string;
}

/** Writes to stdout; resolves to whether it was taken. Throws `LocalError` when it cannot be written. */
export async function print(text: string, io: Io, repeat: () => Repeat = () => ({})): Promise<boolean> {
  if (text === '') return true;
  try {
    return await io.stdout.write(text);
  } catch (error) {
    throw unwritable('to stdout', error, repeat());
  }
}

export const unwritable = (where: string, cause: unknown, { hints = [], idempotencyKey }: Repeat = {}): LocalError =>
  new LocalError(`cannot write ${where} (${codeOf(cause)})`, hints, { cause, idempotencyKey });

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    // Windows has consoles of which it says nothing.
    return false;
  }
}
