import type { Engine } from './world.ts';

/** What a scenario found. The last four numbers are failures, and zero when the promise holds. */
export interface Report {
  readonly scenario: string;
  readonly engine: Engine;
  rounds: number;
  /** Mutations that were answered with success. */
  acknowledged: number;
  /** Acknowledged effects that are not in the database, or not as they were answered. */
  lost: number;
  /** Effects that are there twice, that nobody intended, or whose key was answered in two ways. */
  doubled: number;
  /** Licences with more devices than slots, or whose count of activations is not that of their devices. */
  overActivated: number;
  /** Answers outside what the fault allows, and requests that never came to an end. */
  wrong: number;
  /** Failures in words; the first few. */
  readonly notes: string[];
  /** Further counts to print, by their names. */
  readonly counts: Map<string, number>;
}

/** Begins an empty report. */
export const newReport = (scenario: string, engine: Engine): Report => ({
  scenario,
  engine,
  ...{ rounds: 0, acknowledged: 0, lost: 0, doubled: 0, overActivated: 0, wrong: 0 },
  notes: [],
  counts: new Map(),
});

/** Counts a failure and says which it is. */
export function fail(report: Report, failure: 'lost' | 'doubled' | 'overActivated' | 'wrong', what: string): void {
  report[failure] += 1;
  const note = `${failure}: ${what}`;
  if (report.notes.length < 30 && !report.notes.includes(note)) report.notes.push(note);
}

/** Adds to a further count. */
export function count(report: Report, what: string, times: number): void {
  report.counts.set(what, (report.counts.get(what) ?? 0) + times);
}

/** Whether anything went wrong. */
export const hasFailed = ({ lost, doubled, overActivated, wrong }: Report): boolean =>
  lost + doubled + overActivated + wrong > 0;
