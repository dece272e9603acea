import { hash } from 'node:crypto';
import { toInstant } from '../../domain/time.ts';
import type { Io } from '../io.ts';
import { openPendingFiles, type Pending, type PendingFile } from './pending-files.ts';

/** What tells a request from others. `origin` is a base URL, the path of a database file, or its address without a password. */
export type RequestIdentity = Pick<Pending, 'origin' | 'method' | 'path' | 'body'>;

/** A request with the idempotency key that it is sent under. */
export interface Entry {
  readonly idempotencyKey: string;
  /** Whether an earlier process may have sent the request under this key. */
  readonly repeats: boolean;
  /** The names of the files that are removed with it: none where the key was given and no file has it. */
  readonly files: readonly string[];
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
 * Whether what was begun at an instant can be repeated now, under the same keys, without being done a second time. What is
 * dated in the future cannot: the clock was set back since, so that its age is not known.
 */
export function isRepeatable(startedAt: string, now: number): boolean {
  return startedAt >= toInstant(now - REPEATABLE_MS) && startedAt <= toInstant(now + HOUR_MS);
}

/** A change that is this much older than the newest one is removed without a message. */
const KEPT_MS = 30 * 24 * HOUR_MS;

export type PendingChanges = ReturnType<typeof openPending>;

/** The changes of this user that have no acknowledged answer yet: a file for each, `pending/<hash of the request>.json`. */
export function openPending(io: Io) {
  const files = openPendingFiles(io);

  /** Writes a request down under a new key, in the first file of its hash that is free. */
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
     * Writes requests down before they are sent, each with the key of the same request of a process that has ended without
     * an answer, or a new one. Throws `LocalError`.
     */
    begin: (requests: readonly RequestIdentity[]): Begun =>
      files.exclusively(() => {
        const all = files.list().toSorted(byAge);
        for (const { name } of outdated(all, io.now())) files.remove(name);
        const left = all.filter((file) => !files.isOwn(file));
        const taken = new Set(all.map(({ name }) => name));
        const repeated: Pending[] = [];
        const tooOld: Pending[] = [];
        const entries = requests.map((request): Entry => {
          for (;;) {
            const at = left.findIndex((file) => hashOf(file.value) === hashOf(request) && !files.isRunning(file));
            const [found] = at === -1 ? [] : left.splice(at, 1);
            if (found === undefined) return add(request, taken);
            const { name, value } = found;
            if (isRepeatable(value.createdAt, io.now())) {
              repeated.push(value);
              files.write(name, value);
              return { idempotencyKey: value.idempotencyKey, repeats: true, files: [name] };
            }
            tooOld.push(value);
            files.remove(name);
          }
        });
        return { entries, repeated, tooOld };
      }),
    /** Removes changes whose answers the reader has. */
    complete: (entries: readonly Entry[]): void =>
      files.exclusively(() => {
        for (const name of entries.flatMap((entry) => entry.files)) files.remove(name);
      }, 'What was answered is not lost; before the same command goes on,'),
    list: (): readonly PendingFile[] => files.exclusively(() => files.list()),
    close: files.close,
  };
}

/** The entries of requests whose key the caller has given: nothing is written down, only the caller repeats them. */
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

/** The oldest first; of one instant the one that was written first. */
function byAge(a: PendingFile, b: PendingFile): number {
  if (a.value.createdAt !== b.value.createdAt) return a.value.createdAt < b.value.createdAt ? -1 : 1;
  return a.name.length - b.name.length || (a.name < b.name ? -1 : 1);
}

/** The files that are much older than the newest one; one that a wrong clock dated in the future is not the newest. */
function outdated(all: readonly PendingFile[], now: number): readonly PendingFile[] {
  const newest = all.findLast(({ value }) => value.createdAt <= toInstant(now))?.value.createdAt;
  if (newest === undefined) return [];
  const oldest = toInstant(Date.parse(newest) - KEPT_MS);
  return all.filter(({ value }) => value.createdAt < oldest);
}
