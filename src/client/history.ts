import type { Outcome } from './outcome.ts';
import { isInProgress, mayHaveRun } from './verdict.ts';

/** What the attempts of one call add up to. */
export interface History {
  readonly attempts: number;
  /** Attempts that met a request in progress. */
  readonly pendings: number;
  /** Milliseconds waited for a request in progress. */
  readonly pendingMs: number;
  /** Whether any attempt may have reached the service. */
  readonly sent: boolean;
  /** Whether any attempt may have run the operation. */
  readonly mayHaveRun: boolean;
}

/** Before the first attempt. */
export const noHistory: History = { attempts: 0, pendings: 0, pendingMs: 0, sent: false, mayHaveRun: false };

/** Adds an attempt. */
export function addAttempt(history: History, outcome: Outcome): History {
  return {
    attempts: history.attempts + 1,
    pendings: history.pendings + (isPending(outcome) ? 1 : 0),
    pendingMs: history.pendingMs,
    sent: history.sent || reached(outcome),
    mayHaveRun: history.mayHaveRun || (outcome.kind === 'refusal' ? mayHaveRun(outcome) : reached(outcome)),
  };
}

/** Adds the wait after an attempt. */
export function addWait(history: History, outcome: Outcome, waitMs: number): History {
  return isPending(outcome) ? { ...history, pendingMs: history.pendingMs + waitMs } : history;
}

/** Whether the attempt met its own idempotency key, still running. */
export const isPending = (outcome: Outcome): boolean => outcome.kind === 'refusal' && isInProgress(outcome);

const reached = (outcome: Outcome) => outcome.kind !== 'loss' || outcome.reached;
