import { fingerprint, type Intent, type Line, type RequestIdentity, type Writer } from './journal-file.ts';

/** A change without a response, and the process that it belongs to now. */
export interface Pending {
  readonly row: Intent;
  readonly owner: Writer;
}

/**
 * Collects the changes that are not done from the lines of the journal, and finds them by their request. Those of `ownRun`, this
 * process, are never found: they are not to be repeated.
 */
export function indexChanges(ownRun: string) {
  const runs = new Map<string, Writer>();
  const pending = new Map<string, { row: Intent; owner: Writer }>();
  const byRequest = new Map<string, Set<string>>();

  function apply(lines: readonly Line[]): void {
    for (const line of lines) {
      const id = 'row' in line ? `${line.run}/${line.row}` : '';
      if (line.type === 'run') runs.set(line.run, line);
      else if (line.type === 'row') add(id, line);
      else if (line.type === 'taken') take(id, line.by);
      else remove(id);
    }
  }

  function add(id: string, row: Intent): void {
    const owner = runs.get(row.run);
    if (owner === undefined) return;
    pending.set(id, { row, owner });
    if (row.run === ownRun) return;
    const request = fingerprint(row);
    byRequest.set(request, (byRequest.get(request) ?? new Set()).add(id));
  }

  function take(id: string, by: string): void {
    const taken = pending.get(id);
    const owner = runs.get(by);
    if (taken && owner) taken.owner = owner;
    if (taken && by === ownRun) byRequest.get(fingerprint(taken.row))?.delete(id);
  }

  function remove(id: string): void {
    const found = pending.get(id);
    pending.delete(id);
    if (found) byRequest.get(fingerprint(found.row))?.delete(id);
  }

  /** Oldest first. */
  function* find(request: RequestIdentity): Generator<Pending> {
    for (const id of byRequest.get(fingerprint(request)) ?? []) {
      const found = pending.get(id);
      if (found) yield found;
    }
  }

  /** The shortest list of lines with the same meaning. */
  function lines(): Line[] {
    const all = [...pending.values()];
    const used = new Set(all.flatMap(({ row, owner }) => [row.run, owner.run]));
    const taken = all.filter(({ row, owner }) => owner.run !== row.run);
    return [
      ...[...runs.values()].filter(({ run }) => used.has(run)).map((run) => ({ ...run, type: 'run' as const })),
      ...all.map(({ row }) => ({ ...row, type: 'row' as const })),
      ...taken.map(({ row: { run, row }, owner }) => ({ type: 'taken' as const, run, row, by: owner.run })),
    ];
  }

  const rows = (): Intent[] => [...pending.values()].map(({ row }) => row);
  const hasRun = (run: string): boolean => runs.has(run);
  return { apply, find, lines, rows, hasRun };
}
