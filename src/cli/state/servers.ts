import { z } from 'zod';
import type { Io } from '../io.ts';
import { hasOwnedFiles, openOwnedFiles } from './owned-files.ts';

const Server = z.object({ url: z.string(), db: z.string(), host: z.string(), startedAt: z.int() });
export type RunningServer = Pick<z.output<typeof Server>, 'url' | 'db'>;

const FOLDER = 'servers';

/**
 * Records that this process serves a database, and removes the records of servers that have ended. Returns what removes its
 * own. Throws `LocalError`.
 */
export function recordServer({ url, db }: RunningServer, io: Io): () => void {
  const files = openOwnedFiles(FOLDER, Server, io);
  const name = `${io.uuid()}.json`;
  files.exclusively(() => {
    for (const file of files.list()) if (!files.isRunning(file)) files.remove(file.name);
    files.write(name, { url, db, host: io.host, startedAt: io.now() });
  });
  return () => {
    files.remove(name);
    files.close();
  };
}

/** The servers of this user that run on this machine, the newest first. Throws `LocalError` for a folder that is not safe. */
export function runningServers(io: Io): readonly RunningServer[] {
  if (!hasOwnedFiles(FOLDER, io)) return [];
  const files = openOwnedFiles(FOLDER, Server, io);
  return files
    .exclusively(() => files.list().filter((file) => file.value.host === io.host && files.isRunning(file)))
    .map(({ value }) => value)
    .toSorted((a, b) => b.startedAt - a.startedAt);
}
