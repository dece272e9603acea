import { join } from 'node:path';
import { toInstant } from '../../domain/time.ts';
import { stateDir, withLock } from '../config/files.ts';
import type { Io } from '../io.ts';
import {
  fingerprint,
  type Intent,
  type Line,
  openJournalFile,
  type RequestIdentity,
  type Writer,
} from './journal-file.ts';
import { indexChanges, type Pending } from './journal-index.ts';
import { isRepeatable } from './repeatable.ts';

/** The place of a request in the journal: the key to send it under. */
export interface Entry {
  readonly idempotencyKey: string;
  /** Whether an earlier process may have sent the request under this key. */
  readonly repeats: boolean;
  /** Its rows; empty when the journal could not be written, or the key was given and no row has it. */
  readonly rows: readonly Pick<Intent, 'run' | 'row'>[];
}

/** A request, and the key that it gets unless it repeats an earlier one. */
export interface KeyedRequest extends RequestIdentity {
  readonly newKey: string;
}

/** The entries for a group of requests, and what was found in the journal about them. */
export interface Begun {
  readonly entries: readonly Entry[];
  /** Rows of processes that have ended, which are now repeated. */
  readonly repeated: readonly Intent[];
  /** Rows of another machine, which may still be running there. */
  readonly elsewhere: readonly Pending[];
  /** Rows for which the service may have forgotten the response. They are removed. */
  readonly tooOld: readonly Intent[];
  /** Why the group could not be written down; undefined when it was. */
  readonly failure?: unknown;
}

/** Stores each change before it is sent, until the reader has the response. */
export interface Journal {
  /**
   * Writes the requests of a group down, in one write that is synced once, and chooses the key of each: the given one;
   * else that of an earlier process that made the same request and has ended without an answer; else its own new one.
   * A given key is not written down: only the caller who gives it again repeats it.
   */
  begin(requests: readonly KeyedRequest[], givenKey: string | undefined): Begun;
  /** Removes requests that need not be repeated. */
  complete(entries: readonly Entry[]): void;
}

/** Rows that are older are removed without a message. */
const KEPT_MS = 30 * 24 * 3_600_000;
/** The file is rewritten when it has more obsolete lines than this. */
const MAX_STALE_LINES = 1_000;

export const journalFolder = (io: Io): string => join(stateDir(io), 'journal');

/** Opens the journal of this user. Throws, as its calls do, when its folder is not safe or cannot be made. */
export function openJournal(io: Io): Journal {
  const folder = journalFolder(io);
  const file = openJournalFile(join(folder, 'journal.jsonl'), io);
  const self = { run: io.uuid(), host: io.host, pid: io.pid, startTime: io.processStartTime(io.pid) ?? '' };
  let index = indexChanges(self.run);
  let rowCount = 0;
  let lockCount = 0;
  let isSwept = false;

  function refresh(): void {
    const { lines, isNew } = file.read();
    if (isNew) index = indexChanges(self.run);
    index.apply(lines);
  }

  /**
   * Removes rows that are old beside the newest one, whatever the clock says now; once per process, so that a long journal
   * costs a long command no more than a short one.
   */
  function sweep(): void {
    if (isSwept) return;
    isSwept = true;
    const times = new Map(index.rows().map((row) => [row, Date.parse(row.createdAt)]));
    // Those of a time to come are of a clock that was wrong.
    const newest = [...times.values()].reduce((last, time) => (time > io.now() ? last : Math.max(last, time)), 0);
    const old = [...times].flatMap(([row, time]) => (newest - time > KEPT_MS ? [row] : []));
    index.apply(old.map(doneLine));
    const lines = index.lines();
    if (old.length === 0 && file.lineCount < lines.length + MAX_STALE_LINES) return;
    file.replace(lines);
    refresh();
  }

  function begin(requests: readonly KeyedRequest[], givenKey: string | undefined): Begun {
    return withLock(folder, `${self.run}.${++lockCount}`, io, () => {
      refresh();
      sweep();
      return givenKey === undefined ? beginGroup(requests) : findGiven(requests, givenKey);
    });
  }

  function findGiven(requests: readonly KeyedRequest[], idempotencyKey: string): Begun {
    const entries = requests.map((request) => {
      const found = [...index.find(request)].map(({ row }) => row);
      const rows = found.filter((row) => row.idempotencyKey === idempotencyKey);
      return { idempotencyKey, repeats: rows.length > 0, rows };
    });
    return { entries, repeated: [], elsewhere: [], tooOld: [] };
  }

  function beginGroup(requests: readonly KeyedRequest[]): Begun {
    const lines: Line[] = index.hasRun(self.run) ? [] : [{ type: 'run', ...self }];
    const search = searchPending();
    const entries = requests.map(({ newKey: idempotencyKey, ...request }): Entry => {
      const row = search.next(request);
      if (row !== null) {
        lines.push({ type: 'taken', run: row.run, row: row.row, by: self.run });
        return { idempotencyKey: row.idempotencyKey, repeats: true, rows: [row] };
      }
      const made = { run: self.run, row: ++rowCount, ...request, idempotencyKey, createdAt: toInstant(io.now()) };
      lines.push({ type: 'row', ...made });
      return { idempotencyKey, repeats: false, rows: [made] };
    });
    const found = search.found;
    lines.push(...found.tooOld.map(doneLine));
    try {
      file.append(lines);
      return { ...found, entries };
    } catch (failure) {
      return { ...found, entries: entries.map((entry) => ({ ...entry, rows: [] })), failure };
    } finally {
      // Also when they could not be written: the next request of this process is another change all the same.
      index.apply(lines);
    }
  }

  /** Goes through the rows of each request of a group once, however often the request is in it. */
  function searchPending() {
    const repeated: Intent[] = [];
    const elsewhere: Pending[] = [];
    const tooOld: Intent[] = [];
    const searches = new Map<string, Iterator<Pending>>();
    const running = new Map<string, boolean>();

    function isRunning({ run, pid, startTime }: Writer): boolean {
      // This process has begun nothing yet: its own pid is that of an earlier one.
      const known = running.get(run) ?? (pid !== io.pid && io.processStartTime(pid) === startTime);
      running.set(run, known);
      return known;
    }

    function next(request: RequestIdentity): Intent | null {
      const id = fingerprint(request);
      const search = searches.get(id) ?? index.find(request)[Symbol.iterator]();
      searches.set(id, search);
      for (let step = search.next(); !step.done; step = search.next()) {
        const { row, owner } = step.value;
        if (owner.host !== io.host) elsewhere.push(step.value);
        else if (isRunning(owner)) continue;
        else if (!isRepeatable(row.createdAt, io.now())) tooOld.push(row);
        else {
          repeated.push(row);
          return row;
        }
      }
      return null;
    }

    return { found: { repeated, elsewhere, tooOld }, next };
  }

  function complete(entries: readonly Entry[]): void {
    const done = entries.flatMap(({ rows }) => rows).map(doneLine);
    if (done.length === 0) return;
    withLock(folder, `${self.run}.${++lockCount}`, io, () => {
      refresh();
      index.apply(done);
      if (index.rows().length === 0) file.replace([]);
      else file.append(done);
    });
  }

  return { begin, complete };
}

const doneLine = ({ run, row }: Pick<Intent, 'run' | 'row'>): Line => ({ type: 'done', run, row });
