import type { Io } from '../io.ts';
import { hasState, openState, type State } from './state.ts';

export interface RunningServer {
  readonly url: string;
  readonly db: string;
  /** Its certificate (PEM), where it has signed it itself. */
  readonly ca?: string | undefined;
}

/** Records that this process serves a database, and removes the records of servers that have ended. */
export function recordServer(state: State, { url, db, ca }: RunningServer, { host, now }: Io): void {
  state.transaction(() => {
    for (const { writer } of state.all<{ writer: string }>('SELECT writer FROM server')) {
      if (!state.isRunning(writer)) state.run('DELETE FROM server WHERE writer = ?', writer);
    }
    const sql = 'INSERT INTO server (writer, url, db, ca, host, started_at) VALUES (?, ?, ?, ?, ?, ?)';
    state.run(sql, state.writer(), url, db, ca ?? null, host, now());
  });
}

export function forgetServer(state: State): void {
  state.transaction(() => state.run('DELETE FROM server WHERE writer = ?', state.writer()));
}

/** The servers of this user that run on this machine, the newest first. Throws `LocalError` for a state that is not safe. */
export function runningServers(io: Io): RunningServer[] {
  if (!hasState(io)) return [];
  const state = openState(io);
  try {
    const sql = 'SELECT writer, url, db, ca FROM server WHERE host = ? ORDER BY started_at DESC';
    return state.transaction(() =>
      state
        .all<{ writer: string; url: string; db: string; ca: string | null }>(sql, io.host)
        .filter(({ writer }) => state.isRunning(writer))
        .map(({ url, db, ca }) => ({ url, db, ca: ca ?? undefined })),
    );
  } finally {
    state.close();
  }
}
