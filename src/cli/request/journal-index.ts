import {
  fingerprint,
  formatLine,
  type Line,
  parseLine,
  type RequestIdentity,
  type Row,
  type Run,
} from './journal-lines.ts';

/** A change without an answer, and the run that it belongs to now. */
export interface Pending {
  readonly row: Row;
  readonly owner: Run;
}

/** What the lines of a journal come to: the changes that are not done, found by their request. */
export interface JournalIndex {
  /** Applies lines that were read or written. */
  apply(texts: readonly string[]): void;
  clear(): void;
  /** The changes of other runs that make a request, oldest first. */
  find(request: RequestIdentity): Iterable<Pending>;
  all(): Iterable<Pending>;
  /** The lines that say all of this again. */
  lines(): string[];
  hasRun(run: string): boolean;
  /** How many lines were applied. */
  readonly size: number;
}

/** `ownRun` is the run of this process: none of its changes is one to repeat. */
export function createJournalIndex(ownRun: string): JournalIndex {
  const runs = new Map<string, Run>();
  const pending = new Map<string, { row: Row; owner: Run }>();
  const byRequest = new Map<string, Set<string>>();
  let foreign: string[] = [];
  let size = 0;

  function applyLine(line: Line): void {
    const id = line.type === 'run' ? '' : idOf(line);
    if (line.type === 'run') runs.set(line.run, line);
    else if (line.type === 'row') add(id, line);
    else if (line.type === 'done') remove(id);
    else {
      const taken = pending.get(id);
      const owner = runs.get(line.by);
      if (taken && owner) taken.owner = owner;
      if (taken && line.by === ownRun) byRequest.get(fingerprint(taken.row))?.delete(id);
    }
  }

  function add(id: string, row: Row): void {
    const owner = runs.get(row.run);
    if (owner === undefined) return;
    pending.set(id, { row, owner });
    if (row.run === ownRun) return;
    const request = fingerprint(row);
    const ids = byRequest.get(request) ?? new Set();
    byRequest.set(request, ids.add(id));
  }

  function remove(id: string): void {
    const found = pending.get(id);
    if (found === undefined) return;
    pending.delete(id);
    const request = fingerprint(found.row);
    byRequest.get(request)?.delete(id);
  }

  return {
    apply: (texts) => {
      size += texts.length;
      for (const text of texts) {
        const line = parseLine(text);
        if (line === 'foreign') foreign.push(text);
        else if (line !== null) applyLine(line);
      }
    },
    clear: () => {
      for (const map of [runs, pending, byRequest]) map.clear();
      foreign = [];
      size = 0;
    },
    *find(request) {
      for (const id of byRequest.get(fingerprint(request)) ?? []) {
        const found = pending.get(id);
        if (found) yield found;
      }
    },
    all: () => pending.values(),
    lines: () => {
      const all = [...pending.values()];
      const used = new Set(all.flatMap(({ row, owner }) => [row.run, owner.run]));
      const lines: Line[] = [
        ...[...runs.values()].filter(({ run }) => used.has(run)).map((run) => ({ ...run, type: 'run' as const })),
        ...all.map(({ row }) => ({ ...row, type: 'row' as const })),
        ...all
          .filter(({ row, owner }) => owner.run !== row.run)
          .map(({ row, owner }) => ({ type: 'taken' as const, run: row.run, row: row.row, by: owner.run })),
      ];
      return [...foreign, ...lines.map(formatLine)];
    },
    hasRun: (run) => runs.has(run),
    get size() {
      return size;
    },
  };
}

const idOf = ({ run, row }: { readonly run: string; readonly row: number }): string => `${run}/${row}`;
