import { createHash } from 'node:crypto';
import { toInstant } from '../../domain/time.ts';
import type { Io } from '../io.ts';
import { isRepeatable } from '../request/repeatable.ts';
import type { State, StateRow } from './state.ts';

/** What tells a request from another one. */
export interface RequestIdentity {
  /** Base URL, absolute path of a database file, or address of a PostgreSQL database without its password. */
  readonly origin: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Its exact text. */
  readonly body: string | null;
}

/** A request, and the key that it gets unless it repeats an earlier one. */
export interface KeyedRequest extends RequestIdentity {
  readonly newKey: string;
}

/** A change as an earlier process wrote it down: without an answer so far. */
export interface Pending extends Pick<RequestIdentity, 'method' | 'path' | 'body'> {
  readonly idempotencyKey: string;
  readonly createdAt: string;
}

/** The place of a request in the journal: the key to send it under. */
export interface Entry {
  readonly idempotencyKey: string;
  /** Whether an earlier process may have sent the request under this key. */
  readonly repeats: boolean;
  /** What was written down of it; nothing where the key was given and nobody has written it down. */
  readonly ids: readonly number[];
}

/** The entries for a group of requests, and what was found in the journal about them. */
export interface Begun {
  readonly entries: readonly Entry[];
  /** Changes of processes that have ended, which are now repeated. */
  readonly repeated: readonly Pending[];
  /** Changes of which the service may have forgotten the answer. They are removed. */
  readonly tooOld: readonly Pending[];
}

/** Changes that are this much older than the newest one are removed without a message. */
const KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Writes the requests of a group down, at once, and chooses the key of each: that of an earlier process that made the
 * same request and has ended without an answer, else its own new one.
 */
export function beginChanges(state: State, requests: readonly KeyedRequest[], { now }: Pick<Io, 'now'>): Begun {
  return state.transaction(() => {
    sweep(state, now());
    const writer = state.writer();
    const found = searchPending(state, now());
    const entries = requests.map(({ newKey, ...request }): Entry => {
      const fingerprint = fingerprintOf(request);
      const pending = found.next(fingerprint);
      if (pending !== null) {
        state.run('UPDATE change SET writer = ? WHERE id = ?', writer, pending.id);
        return { idempotencyKey: pending.idempotencyKey, repeats: true, ids: [pending.id] };
      }
      const { origin, method, path, body } = request;
      const [made] = state.all(
        `INSERT INTO change (writer, request, origin, method, path, body, idempotency_key, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        ...[writer, fingerprint, origin, method, path, body, newKey, toInstant(now())],
      );
      return { idempotencyKey: newKey, repeats: false, ids: [Number(made?.id)] };
    });
    return { entries, repeated: found.repeated, tooOld: found.tooOld };
  });
}

/** The entries of requests whose key the caller has given: nothing is written down, only the caller repeats them. */
export function findGiven(state: State | null, requests: readonly RequestIdentity[], idempotencyKey: string): Begun {
  const entries = requests.map((request): Entry => {
    const sql = 'SELECT id FROM change WHERE request = ? AND idempotency_key = ?';
    const rows = state?.all(sql, fingerprintOf(request), idempotencyKey) ?? [];
    return { idempotencyKey, repeats: rows.length > 0, ids: rows.map(({ id }) => Number(id)) };
  });
  return { entries, repeated: [], tooOld: [] };
}

/** Removes changes that need not be repeated. */
export function completeChanges(state: State, entries: readonly Entry[]): void {
  const ids = entries.flatMap((entry) => entry.ids);
  if (ids.length === 0) return;
  state.transaction(() => {
    for (const id of ids) state.run('DELETE FROM change WHERE id = ?', id);
  });
}

/** The changes of a service that have no answer yet. */
export const pendingOf = (state: State, origin: string): readonly Pending[] =>
  state.all('SELECT * FROM change WHERE origin = ? ORDER BY id', origin).map(pendingFrom);

const fingerprintOf = ({ origin, method, path, body }: RequestIdentity): string =>
  createHash('sha256')
    .update(JSON.stringify([origin, method, path, body]))
    .digest('base64url');

const pendingFrom = (row: StateRow): Pending => ({
  method: String(row.method),
  path: String(row.path),
  body: row.body === null ? null : String(row.body),
  idempotencyKey: String(row.idempotency_key),
  createdAt: String(row.created_at),
});

/** Goes through the changes of each request once, the oldest first, however often the request is in the group. */
function searchPending(state: State, now: number) {
  const repeated: Pending[] = [];
  const tooOld: Pending[] = [];
  /** By request: those that were passed by. */
  const seen = new Map<string, number>();
  const running = new Map<string, boolean>();
  const own = state.writer();

  function isRunning(writer: string): boolean {
    const known = running.get(writer) ?? (writer === own || state.isRunning(writer));
    running.set(writer, known);
    return known;
  }

  function next(fingerprint: string): (Pending & { readonly id: number }) | null {
    for (;;) {
      const sql = 'SELECT * FROM change WHERE request = ? AND id > ? ORDER BY id LIMIT 1';
      const [row] = state.all(sql, fingerprint, seen.get(fingerprint) ?? 0);
      if (row === undefined) return null;
      const id = Number(row.id);
      seen.set(fingerprint, id);
      if (isRunning(String(row.writer))) continue;
      const pending = pendingFrom(row);
      if (isRepeatable(pending.createdAt, now)) {
        repeated.push(pending);
        return { ...pending, id };
      }
      tooOld.push(pending);
      state.run('DELETE FROM change WHERE id = ?', id);
    }
  }

  return { next, repeated, tooOld };
}

/**
 * Removes changes that are old beside the newest one, whatever the clock says now; those of a time to come are of a clock
 * that was wrong.
 */
function sweep(state: State, now: number): void {
  const [newest] = state.all('SELECT max(created_at) AS at FROM change WHERE created_at <= ?', toInstant(now));
  if (typeof newest?.at !== 'string') return;
  state.run('DELETE FROM change WHERE created_at < ?', toInstant(Date.parse(newest.at) - KEPT_MS));
}
