import type { Engine } from './world.ts';

/** What a scenario found. All but the first three are failures, and zero when the promise holds. */
export interface Report {
  readonly scenario: string;
  readonly engine: Engine;
  readonly seed: number;
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
  /** What happened, in words; the first few of a kind. */
  readonly notes: string[];
}

/** The four ways to fail. */
export type Failure = 'lost' | 'doubled' | 'overActivated' | 'wrong';

/** Begins an empty report. */
export const newReport = (scenario: string, engine: Engine, seed: number): Report => ({
  scenario,
  engine,
  seed,
  rounds: 0,
  acknowledged: 0,
  lost: 0,
  doubled: 0,
  overActivated: 0,
  wrong: 0,
  notes: [],
});

const MOST_NOTES = 30;

/** Counts a failure and says which it is. */
export function fail(report: Report, failure: Failure, what: string): void {
  report[failure] += 1;
  note(report, `${failure}: ${what}`);
}

/** Adds a remark. */
export function note(report: Report, text: string): void {
  if (report.notes.length < MOST_NOTES && !report.notes.includes(text)) report.notes.push(text);
}

/** Whether anything went wrong. */
export const hasFailed = ({ lost, doubled, overActivated, wrong }: Report): boolean =>
  lost + doubled + overActivated + wrong > 0;

/** The rate per round that no failure in `rounds` rounds excludes at 95 %: the rule of three. */
export const bound95 = (rounds: number): number => (rounds === 0 ? 1 : Math.min(1, 3 / rounds));
