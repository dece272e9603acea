import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from './process.ts';

/** A disk of a few megabytes, in a mount namespace of its own. */
export interface SmallDisk {
  /** A folder on it, as this process sees it. */
  readonly folder: string;
  /** The same folder, as a command sees it that is run through `through`. */
  readonly inside: string;
  readonly through: readonly string[];
  /** Writes until nothing more fits. */
  fill(): void;
  /** Gives the space back. */
  free(): void;
  remove(): Promise<void>;
}

/** Mounts it; it is gone with this process. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk> {
  const inside = mkdtempSync(join(tmpdir(), 'lkm-faults-disk-'));
  const mount = `mount -t tmpfs -o size=${megabytes}m tmpfs "$1" && echo mounted && exec cat`;
  const keeper = start(['unshare', '-m', 'sh', '-c', mount, 'sh', inside], { hasStdin: true });
  await once(keeper.stdout, 'data');
  const folder = join(`/proc/${keeper.pid}/root`, inside);
  const filler = join(folder, 'filler');
  return {
    folder,
    inside,
    through: ['nsenter', '-t', String(keeper.pid), '-m'],
    fill() {
      for (const bytes of [65_536, 4_096, 1]) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(bytes));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    free: () => rmSync(filler, { force: true }),
    async remove() {
      await keeper.end('SIGKILL');
      rmSync(inside, { recursive: true, force: true });
    },
  };
}

/** What this machine lacks for it; null when it can be done. */
export function lacksMounts(): string | null {
  const { status } = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && command -v nsenter'], {
    stdio: 'ignore',
  });
  return status === 0 ? null : 'no file system can be mounted here';
}
