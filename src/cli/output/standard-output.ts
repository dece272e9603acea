import { fstatSync, writeFileSync } from 'node:fs';
import { isatty, type WriteStream } from 'node:tty';
import { codeOf, type Hint, LocalError } from '../failure/errors.ts';
import type { Io, Output } from '../io.ts';

const FALLBACK_COLUMNS = 80;

/** stdout or stderr, opened at the first use. With `reports`, errors of the system are thrown, except for a closed pipe. */
export function outputOf(fd: number, stream: () => WriteStream, { reports }: { readonly reports: boolean }): Output {
  const isTTY = isatty(fd);
  let opened: WriteStream | undefined;
  // Each write reports its own error; without a listener, the event would end the process.
  const open = () => {
    opened ??= stream().on('error', () => {});
    return opened;
  };
  return {
    isTTY,
    // Read each time: windows are resized. A terminal without a size reports 0.
    get columns() {
      return (isTTY && open().columns) || FALLBACK_COLUMNS;
    },
    fd,
    async write(text) {
      try {
        // A stream of Node.js hides that a full disk took only a part of the text.
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

/** How to obtain the text again. */
export interface Repeat {
  readonly hints?: readonly Hint[];
  readonly idempotencyKey?: string;
}

/** Writes to stdout; resolves to whether the reader took it. Throws `LocalError` when it cannot be written. */
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
    // Windows has consoles without stats.
    return false;
  }
}
