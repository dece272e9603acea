import { describe, expect } from 'vitest';
import { createJobs, type Job } from '../../src/server/jobs/job.ts';
import { createLog } from '../../src/server/log.ts';
import { engineOf, engines } from '../support/engines.ts';
import { test as it, testsOn } from '../support/fixtures.ts';
import { createWorld, type World } from '../support/world.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Runs one job of the test's own until the test is done with it. */
async function start(world: World, job: Partial<Job> & Pick<Job, 'run'>) {
  const lines: string[] = [];
  const log = await createLog('json', { write: (line) => lines.push(line) });
  const jobs = createJobs({ store: world.store, log });
  jobs.start([{ name: 'test', everyMs: DAY_MS, ...job }]);
  return { jobs, lines };
}

describe.each(engines)('a job on $name', (engine) => {
  const it = testsOn(engine);

  it('runs when it is woken, never twice at one time, and once more when it is woken meanwhile', async ({ world }) => {
    const release = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const { jobs } = await start(world, {
      run: async () => {
        running += 1;
        most = Math.max(most, running);
        await release.promise;
        running -= 1;
      },
    });
    for (let index = 0; index < 5; index += 1) jobs.wake('test');
    expect(jobs.health()).toEqual([{ name: 'test', state: 'running', runs: 0, failures: 0 }]);
    release.resolve();
    await expect.poll(() => jobs.health()).toEqual([{ name: 'test', state: 'waiting', runs: 2, failures: 0 }]);
    expect(most).toBe(1);
    await jobs.stop();
  });

  it('runs at its interval, and a look that finds nothing due counts as no run', async ({ world }) => {
    let looks = 0;
    const run = async () => {
      looks += 1;
      return looks > 5;
    };
    const { jobs } = await start(world, { everyMs: 5, run });
    await expect.poll(() => looks).toBeGreaterThan(7);
    await jobs.stop();
    expect(jobs.health()).toEqual([{ name: 'test', state: 'waiting', runs: looks - 5, failures: 0 }]);
  });

  it('that fails is logged and shows it, and goes on until it works again', async ({ world }) => {
    let isBroken = true;
    const { jobs, lines } = await start(world, {
      run: async () => {
        if (isBroken) throw new Error('the disk is full');
      },
    });
    jobs.wake('test');
    await expect.poll(() => jobs.health()).toMatchObject([{ runs: 1, failures: 1 }]);
    jobs.wake('test');
    await expect.poll(() => jobs.health()).toMatchObject([{ runs: 2, failures: 2 }]);
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({
      level: 50,
      job: 'test',
      failures: 2,
      err: { message: 'the disk is full' },
      msg: 'job failed',
    });
    for (let runs = 3; runs <= 9; runs += 1) {
      jobs.wake('test');
      await expect.poll(() => jobs.health()).toMatchObject([{ runs, failures: runs }]);
    }
    // Not each of them: one that fails every second would fill a disk.
    expect(lines.map((line) => JSON.parse(line).failures)).toEqual([1, 2, 4, 8]);
    isBroken = false;
    jobs.wake('test');
    await expect.poll(() => jobs.health()).toMatchObject([{ runs: 10, failures: 0 }]);
    await jobs.stop();
  });

  it('is told when the server stops, and waited for', async ({ world }) => {
    const steps: string[] = [];
    const { jobs } = await start(world, {
      run: async ({ signal }) => {
        await new Promise((done) => signal.addEventListener('abort', done));
        steps.push('ended');
      },
    });
    jobs.wake('test');
    await jobs.stop();
    steps.push('stopped');
    jobs.wake('test');
    expect(steps).toEqual(['ended', 'stopped']);
    expect(jobs.health()).toMatchObject([{ state: 'waiting', runs: 1 }]);
  });
});

describe('the lease of a job on PostgreSQL', () => {
  /** A machine may have other work. */
  const patient = { timeout: 10_000 };

  it('lets one replica work at a time', async () => {
    await using world = await createWorld({ engine: engineOf('PostgreSQL') });
    const held = Promise.withResolvers<void>();
    const results: unknown[] = [];
    const first = await start(world, {
      run: async ({ transaction }) => {
        results.push(await transaction(() => held.promise.then(() => 'first')));
      },
    });
    const second = await start(world, {
      run: async ({ transaction }) => {
        results.push(await transaction(async () => 'second'));
      },
    });
    first.jobs.wake('test');
    await expect
      .poll(() => world.store.transaction((repositories) => repositories.tryLock('job test')), patient)
      .toBe(false);
    second.jobs.wake('test');
    await expect.poll(() => results, patient).toEqual([null]);
    held.resolve();
    await expect.poll(() => results, patient).toEqual([null, 'first']);
    second.jobs.wake('test');
    await expect.poll(() => results, patient).toEqual([null, 'first', 'second']);
    await Promise.all([first.jobs.stop(), second.jobs.stop()]);
  });
});

describe('a running server', () => {
  it('shows how its jobs are doing', async ({ service }) => {
    expect(service.server.jobHealth().map(({ name, failures }) => [name, failures])).toEqual(
      ['cleanup', 'expiry', 'checkpoints', 'deliveries', 'webhook-health', 'delivery-cleanup', 'token uses'].map(
        (name) => [name, 0],
      ),
    );
  });
});
