import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from './process.ts';

/** A disk of a few megabytes, in a mount namespace of its own. */
export type SmallDisk = Awaited<ReturnType<typeof mountSmallDisk>>;

/** Mounts it; it is gone with this process. */
export async function mountSmallDisk(megabytes: number) {
  const inside = mkdtempSync(join(tmpdir(), 'lkm-faults-disk-'));
  const mount = `mount -t tmpfs -o size=${megabytes}m tmpfs "$1" && echo mounted && exec cat`;
  const keeper = start(['unshare', '-m', 'sh', '-c', mount, 'sh', inside], { hasStdin: true });
  await once(keeper.stdout, 'data');
  const folder = join(`/proc/${keeper.pid}/root`, inside);
  const filler = join(folder, 'filler');
  return {
    /** A folder on it, as this process sees it. */
    folder,
    /** The same folder, as a command sees it that is run through `through`. */
    inside,
    through: ['nsenter', '-t', String(keeper.pid), '-m'],
    /** Writes until nothing more fits. */
    fill() {
      for (const bytes of [65_536, 4_096, 1]) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(bytes));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    /** Gives the space back. */
    free: () => rmSync(filler, { force: true }),
    async remove() {
      await keeper.end('SIGKILL');
      rmSync(inside, { recursive: true, force: true });
    },
  };
}

/** What this machine lacks for it; null when it can be done. */
export function lacksMounts(): string | null {
  const probe = 'mount -t tmpfs tmpfs /mnt && command -v nsenter';
  const { status } = spawnSync('unshare', ['-m', 'sh', '-c', probe], { stdio: 'ignore' });
  return status === 0 ? null : 'no file system can be mounted here';
}
