import { type BigIntStats, statSync } from 'node:fs';
import { StorageError } from '../storage-error.ts';
import type { LocatedFile } from './locate.ts';

/**
 * Remembers which files an open database consists of. The function it makes throws StorageError when one of them was
 * removed, renamed or replaced since: what is written from then on would be lost with the last process that has them open.
 */
export function rememberFiles({ path, device, inode }: LocatedFile): () => void {
  const log = statSync(`${path}-wal`, { bigint: true });
  const files = [
    { path, device, inode },
    { path: `${path}-wal`, device: log.dev, inode: log.ino },
  ];
  return () => {
    for (const file of files) {
      const found = statSync(file.path, { bigint: true, throwIfNoEntry: false });
      if (!isSame(found, file)) {
        throw new StorageError(new Error(`${file.path} was removed or replaced while it was in use`));
      }
    }
  };
}

function isSame(found: BigIntStats | undefined, { device, inode }: { device: bigint; inode: bigint }): boolean {
  return found !== undefined && found.dev === device && found.ino === inode;
}
