import { hash } from 'node:crypto';
import { toInstant } from '../../domain/time.ts';
import type { Io } from '../io.ts';
import type { State } from './state.ts';

export interface RequestIdentity {
  /** Base URL, absolute path of a database file, or address of a PostgreSQL database without its password. */
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
}

export interface Pending extends Pick<RequestIdentity, 'method' | 'path' | 'body'> {
  readonly id: number;
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

export interface Begun {
  readonly entries: readonly Entry[];
  /** Changes of processes that have ended, which are now repeated. */
  readonly repeated: readonly Pending[];
  /** Changes of which the service may have forgotten the answer. They are removed. */
  readonly tooOld: readonly Pending[];
}

const HOUR_MS = 3_600_000;

/** How long a request is repeated: as long as the service keeps its response, less an hour for clocks that differ. */
const REPEATABLE_MS = 23 * HOUR_MS;

/**
 * The instants between which a request was sent that can be repeated under its key now, without being done a second time.
 * A request dated in the future cannot: the clock was set back since, so that its age is not known.
 */
const repeatableSpan = (now: number): readonly [from: string, to: string] => [
  toInstant(now - REPEATABLE_MS),
  toInstant(now + HOUR_MS),
];

/** Whether what was begun at an instant can be repeated now, under the same keys. */
export function isRepeatable(startedAt: string, now: number): boolean {
  const [from, to] = repeatableSpan(now);
  return startedAt >= from && startedAt <= to;
}

/** A change that is this much older than the newest one is removed without a message. */
const KEPT_MS = 30 * 24 * HOUR_MS;

/** Writes requests down, each with the key of the same request of a process that has ended without an answer, or a new one. */
export function beginChanges(
  state: State,
  requests: readonly RequestIdentity[],
  { now, uuid }: Pick<Io, 'now' | 'uuid'>,
): Begun {
  const newKeys = requests.map(() => uuid());
  return state.transaction(() => {
    sweep(state, now());
    const writer = state.writer();
    const repeated: Pending[] = [];
    const tooOld: Pending[] = [];
    /** By request, the changes of ended processes that are left, the oldest first. */
    const ended = new Map<string, Pending[]>();

    const entries = requests.map(({ origin, method, path, body }, at): Entry => {
      const request = fingerprintOf({ origin, method, path, body });
      const left = ended.get(request) ?? readEnded(state, request);
      ended.set(request, left);
      for (let pending = left.shift(); pending !== undefined; pending = left.shift()) {
        const { id, idempotencyKey, createdAt } = pending;
        if (isRepeatable(createdAt, now())) {
          repeated.push(pending);
          state.run('UPDATE change SET writer = ? WHERE id = ?', writer, id);
          return { idempotencyKey, repeats: true, ids: [id] };
        }
        tooOld.push(pending);
        state.run('DELETE FROM change WHERE id = ?', id);
      }
      const idempotencyKey = newKeys[at] ?? uuid();
      const made = state.all<{ id: number }>(
        `INSERT INTO change (writer, request, origin, method, path, body, idempotency_key, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
        ...[writer, request, origin, method, path, body, idempotencyKey, toInstant(now())],
      );
      return { idempotencyKey, repeats: false, ids: made.map(({ id }) => id) };
    });
    return { entries, repeated, tooOld };
  });
}

/** The entries of requests whose key the caller has given: nothing is written down, only the caller repeats them. */
export function findGiven(state: State | null, requests: readonly RequestIdentity[], idempotencyKey: string): Begun {
  const entries = requests.map((request): Entry => {
    const sql = 'SELECT id FROM change WHERE request = ? AND idempotency_key = ?';
    const rows = state?.all<{ id: number }>(sql, fingerprintOf(request), idempotencyKey) ?? [];
    return { idempotencyKey, repeats: rows.length > 0, ids: rows.map(({ id }) => id) };
  });
  return { entries, repeated: [], tooOld: [] };
}

export function completeChanges(state: State, entries: readonly Entry[]): void {
  state.transaction(() => {
    for (const id of entries.flatMap(({ ids }) => ids)) state.run('DELETE FROM change WHERE id = ?', id);
  });
}

const PENDING = 'id, method, path, body, idempotency_key AS idempotencyKey, created_at AS createdAt';

/** The changes of a service that have no answer yet. */
export const pendingOf = (state: State, origin: string): readonly Pending[] =>
  state.all(`SELECT ${PENDING} FROM change WHERE origin = ? ORDER BY id`, origin);

const fingerprintOf = ({ origin, method, path, body }: RequestIdentity): string =>
  hash('sha256', JSON.stringify([origin, method, path, body]), 'base64url');

const readEnded = (state: State, request: string): Pending[] =>
  state
    .all<Pending & { writer: string }>(`SELECT ${PENDING}, writer FROM change WHERE request = ? ORDER BY id`, request)
    .filter(({ writer }) => writer !== state.writer() && !state.isRunning(writer));

/** Removes changes that are much older than the newest one; one that a wrong clock dated in the future is not the newest. */
function sweep(state: State, now: number): void {
  const sql = 'SELECT max(created_at) AS newest FROM change WHERE created_at <= ?';
  for (const { newest } of state.all<{ newest: string | null }>(sql, toInstant(now))) {
    if (newest !== null) state.run('DELETE FROM change WHERE created_at < ?', toInstant(Date.parse(newest) - KEPT_MS));
  }
}
