import { hash } from 'node:crypto';
import { toInstant } from '../../domain/time.ts';
import type { Io } from '../io.ts';
import { openPendingFiles, type Pending, type PendingFile } from './pending-files.ts';

/** Identifies a request. `origin` is a base URL, the path of a database file, or its address without a password. */
export type RequestIdentity = Pick<Pending, 'origin' | 'method' | 'path' | 'body'>;

export interface Entry {
  readonly idempotencyKey: string;
  /** Whether an earlier process may have sent the request under this key. */
  readonly repeats: boolean;
  /** The files to remove with the entry; empty for a given key that no file has. */
  readonly files: readonly string[];
}

export interface Begun {
  readonly entries: readonly Entry[];
  /** Changes that ended processes left, which are now repeated. */
  readonly repeated: readonly Pending[];
  /** Changes whose stored response the service may have deleted. Their files are removed. */
  readonly tooOld: readonly Pending[];
}

const HOUR_MS = 3_600_000;

/** The service keeps responses for 24 hours; an hour less, for clocks that differ. */
const REPEATABLE_MS = 23 * HOUR_MS;

/**
 * Whether a change from this instant can be repeated under the same key without running twice. A date in the future cannot
 * be trusted: the clock was set back.
 */
export function isRepeatable(startedAt: string, now: number): boolean {
  return startedAt >= toInstant(now - REPEATABLE_MS) && startedAt <= toInstant(now + HOUR_MS);
}

/** Older files, counted from the newest one, are removed without a message. */
const KEPT_MS = 30 * 24 * HOUR_MS;

export type PendingChanges = ReturnType<typeof openPending>;

/** The pending changes of this user, each in the file `pending/<hash of the request>.json`. */
export function openPending(io: Io) {
  const files = openPendingFiles(io);

  /** Writes a request under a new key into the first free file of its hash. */
  function add(request: RequestIdentity, taken: Set<string>): Entry {
    const hashed = hashOf(request);
    let name = `${hashed}.json`;
    for (let number = 2; taken.has(name); number += 1) name = `${hashed}-${number}.json`;
    taken.add(name);
    const pending = { ...identityOf(request), idempotencyKey: io.uuid(), createdAt: toInstant(io.now()) };
    files.write(name, pending);
    return { idempotencyKey: pending.idempotencyKey, repeats: false, files: [name] };
  }

  return {
    folder: files.path,
    /**
     * Writes requests to disk before they are sent. A request that an ended process left without a response keeps its key;
     * other requests get a new key. Throws `LocalError`.
     */
    begin: (requests: readonly RequestIdentity[]): Begun =>
      files.exclusively(() => {
        const all = files.list().toSorted(byAge);
        for (const { name } of outdated(all, io.now())) files.remove(name);
        const left = all.filter((file) => !files.isOwn(file));
        const taken = new Set(all.map(({ name }) => name));
        const repeated: Pending[] = [];
        const tooOld: Pending[] = [];
        const takeLeft = (request: RequestIdentity): PendingFile | undefined => {
          const at = left.findIndex((file) => hashOf(file.value) === hashOf(request) && !files.isRunning(file));
          return at === -1 ? undefined : left.splice(at, 1)[0];
        };
        const entries = requests.map((request): Entry => {
          for (let found = takeLeft(request); found !== undefined; found = takeLeft(request)) {
            const { name, value } = found;
            if (isRepeatable(value.createdAt, io.now())) {
              repeated.push(value);
              files.write(name, value);
              return { idempotencyKey: value.idempotencyKey, repeats: true, files: [name] };
            }
            tooOld.push(value);
            files.remove(name);
          }
          return add(request, taken);
        });
        return { entries, repeated, tooOld };
      }),
    /** Removes changes whose responses the reader has received. */
    complete: (entries: readonly Entry[]): void =>
      files.exclusively(() => {
        for (const name of entries.flatMap((entry) => entry.files)) files.remove(name);
      }, 'Received responses are not lost. Before the same command can go on,'),
    list: (): readonly PendingFile[] => files.exclusively(() => files.list()),
    close: files.close,
  };
}

/** Entries for a key that the caller gave: nothing is written, only the caller repeats them. */
export function findGiven(
  known: PendingChanges | null,
  requests: readonly RequestIdentity[],
  idempotencyKey: string,
): Begun {
  const all = known?.list() ?? [];
  const entries = requests.map((request): Entry => {
    const same = all.filter(
      ({ value }) => value.idempotencyKey === idempotencyKey && hashOf(value) === hashOf(request),
    );
    return { idempotencyKey, repeats: same.length > 0, files: same.map(({ name }) => name) };
  });
  return { entries, repeated: [], tooOld: [] };
}

const identityOf = ({ origin, method, path, body }: RequestIdentity) => ({ origin, method, path, body });

const hashOf = (request: RequestIdentity): string =>
  hash('sha256', JSON.stringify(Object.values(identityOf(request)))).slice(0, 32);

/** Oldest first; within an instant in the order of writing. */
function byAge(a: PendingFile, b: PendingFile): number {
  if (a.value.createdAt !== b.value.createdAt) return a.value.createdAt < b.value.createdAt ? -1 : 1;
  return a.name.length - b.name.length || (a.name < b.name ? -1 : 1);
}

/** Files that are much older than the newest one. A date in the future, from a wrong clock, does not count as newest. */
function outdated(all: readonly PendingFile[], now: number): readonly PendingFile[] {
  const newest = all.findLast(({ value }) => value.createdAt <= toInstant(now))?.value.createdAt;
  if (newest === undefined) return [];
  const oldest = toInstant(Date.parse(newest) - KEPT_MS);
  return all.filter(({ value }) => value.createdAt < oldest);
}
