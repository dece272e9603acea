import { closeSync, openSync, readSync } from 'node:fs';

const PART_BYTES = 256 * 1_024;

/** The lines of a file, without the last one where that has no end. Only a part of it is in memory. Throws as `openSync`. */
export function* readLines(path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const part = Buffer.alloc(PART_BYTES);
    let rest = Buffer.alloc(0);
    for (;;) {
      const size = readSync(file, part);
      if (size === 0) return;
      const bytes = Buffer.concat([rest, part.subarray(0, size)]);
      const end = bytes.lastIndexOf(0x0a) + 1;
      rest = Buffer.from(bytes.subarray(end));
      if (end > 0) yield* bytes.toString('utf8', 0, end - 1).split('\n');
    }
  } finally {
    closeSync(file);
  }
}
