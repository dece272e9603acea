import { fstatSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { devNull } from 'node:os';
import type { WriteStream } from 'node:tty';
import type { Output } from '../io.ts';

const FALLBACK_COLUMNS = 80;

/**
 * A standard stream of the process, stdout or stderr. A file is written to directly: to load what Node.js has for streams
 * takes longer than to look up a key.
 *
 * @param stream opens it; called when it is used
 * @param reports whether a write rejects with an error of the system, other than that nobody reads any more
 */
export function outputOf(fd: number, stream: () => WriteStream, { reports }: { readonly reports: boolean }): Output {
  const target = kindOf(fd);
  return target === 'file' ? fileOutput(fd, reports) : streamOutput(fd, stream, { reports, target });
}

/** What stands behind a file descriptor. The null device takes text as a file does, and nobody reads it slowly. */
function kindOf(fd: number): 'file' | 'pipe' | 'device' {
  try {
    const target = fstatSync(fd);
    if (target.isFile() || isNullDevice(target)) return 'file';
    return target.isCharacterDevice() ? 'device' : 'pipe';
  } catch {
    // Windows has consoles of which it says nothing.
    return 'device';
  }
}

/** A system without device numbers calls every one 0: then no device is taken for it. */
const isNullDevice = ({ rdev }: Stats): boolean => rdev !== 0 && rdev === statSync(devNull).rdev;

function fileOutput(fd: number, reports: boolean): Output {
  return {
    isTTY: false,
    columns: FALLBACK_COLUMNS,
    fd,
    async write(text) {
      try {
        writeFileSync(fd, text);
        return true;
      } catch (error) {
        if (reports) throw error;
        return false;
      }
    },
  };
}

interface StreamOptions {
  readonly reports: boolean;
  readonly target: 'pipe' | 'device';
}

function streamOutput(fd: number, stream: () => WriteStream, { reports, target }: StreamOptions): Output {
  let opened: WriteStream | undefined;
  // Each write reports its own error; an event without a listener would end the process instead.
  const open = () => {
    opened ??= stream().on('error', () => {});
    return opened;
  };
  return {
    get isTTY() {
      return target === 'device' && open().isTTY === true;
    },
    // Read anew each time: a window can be resized. A terminal that nobody gave a size says 0.
    get columns() {
      return open().columns || FALLBACK_COLUMNS;
    },
    get lines() {
      return open().rows || undefined;
    },
    fd,
    write: (text) =>
      new Promise((resolve, reject) => {
        open().write(text, (error: NodeJS.ErrnoException | null | undefined) => {
          if (!error) resolve(true);
          else if (error.code === 'EPIPE' || !reports) resolve(false);
          else reject(error);
        });
      }),
  };
}
