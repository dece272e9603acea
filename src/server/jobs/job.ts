import type { Repositories, Store } from '../../store/store.ts';
import { errorFields } from '../error-fields.ts';
import type { Logger } from '../log.ts';
import type { TestClock } from '../test-clock.ts';

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  /** Resolves to false when nothing was due; such a call does not count as a run. */
  run(context: JobContext): Promise<unknown>;
}

/**
 * The dependencies of a run of a job. A job uses the network only between its transactions: work in a transaction gets
 * nothing but repositories.
 */
export interface JobContext {
  readonly log: Logger;
  /** Aborted when the server stops: a run then ends after its current transaction. */
  readonly signal: AbortSignal;
  /** Runs `work` in a transaction that holds the lease of the job; null when another replica holds it. */
  transaction<T>(work: (repositories: Repositories) => Promise<T>): Promise<T | null>;
}

export interface JobHealth {
  readonly name: string;
  readonly state: 'waiting' | 'running';
  readonly runs: number;
  /** How many of the last runs have failed, one after the other. */
  readonly failures: number;
}

interface JobParts {
  readonly store: Store;
  readonly log: Logger;
  /** The jobs run, one after the other, each time this clock is moved. */
  readonly testClock?: TestClock | undefined;
}

/** Runs jobs; no job runs twice at one time. A failed run is logged. */
export function createJobs(parts: JobParts) {
  const runners = new Map<string, ReturnType<typeof startJob>>();
  const stopListening = parts.testClock?.onMoved(async () => {
    for (const runner of runners.values()) await runner.runNow();
  });
  return {
    /** Runs each job at its interval until `stop`. */
    start(jobs: readonly Job[]): void {
      for (const job of jobs) runners.set(job.name, startJob(job, parts));
    },
    /** Runs a job now, or once more after its present run. Does nothing before the job is started. */
    wake: (name: string): void => runners.get(name)?.wake(),
    health: (): JobHealth[] => [...runners.values()].map(({ health }) => health()),
    async stop(): Promise<void> {
      stopListening?.();
      await Promise.all([...runners.values()].map(({ stop }) => stop()));
    },
  };
}

/** Returns a function that runs work in a transaction with the lease of a job; null while another replica holds the lease. */
export const leasedBy =
  (name: string, store: Store): JobContext['transaction'] =>
  (work) =>
    store.transaction(async (repositories) =>
      (await repositories.tryLock(`job ${name}`)) ? work(repositories) : null,
    );

function startJob(job: Job, { store, log }: JobParts) {
  const stopping = new AbortController();
  const context: JobContext = { log, signal: stopping.signal, transaction: leasedBy(job.name, store) };
  let running: Promise<void> | null = null;
  let isWanted = false;
  let runs = 0;
  let failures = 0;

  async function runOnce(): Promise<void> {
    try {
      if ((await job.run(context)) === false) return;
      failures = 0;
    } catch (error) {
      failures += 1;
      // Logs the 1st, 2nd, 4th … failure: a job that runs each second must not fill a disk with one error.
      if (Number.isInteger(Math.log2(failures)))
        log.error({ ...errorFields(store, error), job: job.name, failures }, 'job failed');
    }
    runs += 1;
  }

  async function runWhileWanted(): Promise<void> {
    while (isWanted && !stopping.signal.aborted) {
      isWanted = false;
      await runOnce();
    }
    running = null;
  }

  function wake(): void {
    isWanted = true;
    if (!stopping.signal.aborted) running ??= runWhileWanted();
  }

  const timer = setInterval(wake, job.everyMs).unref();
  return {
    wake,
    /** Runs the job, and resolves when no further run is asked for. */
    async runNow() {
      wake();
      await running;
    },
    health: (): JobHealth => ({ name: job.name, state: running === null ? 'waiting' : 'running', runs, failures }),
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}
