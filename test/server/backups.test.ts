import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { fileStamp } from '../../src/domain/time.ts';
import { createRandom, restoreBackup, tryBackup } from '../../src/operator/index.ts';
import { backupJob } from '../../src/server/jobs/backups.ts';
import { createJobs } from '../../src/server/jobs/job.ts';
import { createLog } from '../../src/server/log.ts';
import { takeBackup } from '../../src/store/backup/take.ts';
import { openStore } from '../../src/store/store.ts';
import { test as it } from '../support/fixtures.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const HOUR_MS = 3_600_000;

const later = (hours: number) => new Date(Date.parse(STARTED_AT) + hours * HOUR_MS).toISOString() as Instant;

/** The job on a world, whose clock stands where it is set. */
async function schedule(world: World, folder: string, keep = 2) {
  let now = STARTED_AT;
  const job = backupJob(world.location, { everyMs: HOUR_MS, keep, folder }, { now: () => now });
  const lines: string[] = [];
  const log = await createLog('json', { write: (line) => lines.push(line) });
  const signal = new AbortController().signal;
  const context = { log, signal, transaction: async () => null };
  return {
    job,
    lines,
    async runAt(hours: number) {
      now = later(hours);
      await job.run(context);
    },
  };
}

describe('backups', () => {
  it('hold everything, and are restored', async ({ world, folder }) => {
    const { id: productId } = await world.product('Engine Pro');
    const licenseKey = await world.key({ productId });
    await world.activate({ productId, licenseKey }, 'host-1');
    await world.sequence();
    const file = join(folder.path, 'backup.db');
    const manifest = await takeBackup(world.location, file, { now: STARTED_AT });
    const sealing = { masterKey: null, random: createRandom() };
    expect(await tryBackup(file, { workPath: file, sealing })).toEqual(manifest);
    const target = join(folder.path, 'restored.db');
    await restoreBackup(file, target, { replace: false, stamp: fileStamp(STARTED_AT) });
    const restored = await openStore(target);
    const found = await restored.repositories.keys.find(world.accounts.acme, productId as never, licenseKey as never);
    await restored.close();
    expect(found).toMatchObject({ key: licenseKey, activations: 1 });
  });

  it('are taken when the newest is old enough, and the oldest are removed', async ({ world, folder }) => {
    const { runAt, lines } = await schedule(world, folder.path);
    for (const hours of [0, 0.5, 1, 1.9, 2]) await runAt(hours);
    const [eleven, twelve] = ['lkm-2026-11-21T11-00-00Z.db', 'lkm-2026-11-21T12-00-00Z.db'];
    expect(readdirSync(folder.path).sort()).toEqual([eleven, `${eleven}.json`, twelve, `${twelve}.json`]);
    expect(lines.filter((line) => line.includes('backed up'))).toHaveLength(3);
    // A server that starts again looks at the folder.
    const again = await schedule(world, folder.path);
    await again.runAt(2.5);
    expect(again.lines).toEqual([]);
  });

  it('are taken beside files of a time to come, or of none, which are left alone', async ({ world, folder }) => {
    const odd = ['lkm-2026-02-31T99-00-00Z.db', 'lkm-2099-01-01T00-00-00Z.db'];
    for (const name of odd) writeFileSync(join(folder.path, name), '');
    const { runAt } = await schedule(world, folder.path);
    for (const hours of [0, 1, 2]) await runAt(hours);
    const taken = ['lkm-2026-11-21T11-00-00Z.db', 'lkm-2026-11-21T12-00-00Z.db'];
    const manifests = taken.map((name) => `${name}.json`);
    expect(readdirSync(folder.path).sort()).toEqual([...odd, ...taken, ...manifests].sort());
  });

  it('remove what was cut off a day ago, and nothing else', async ({ world, folder }) => {
    const day = Date.parse(STARTED_AT) / 1_000 - 24 * 3_600;
    for (const [name, at] of [
      ['.lkm-work-old', day - 60],
      ['.lkm-work-new', day + 60],
      ['mine', day - 60],
    ] as const) {
      mkdirSync(join(folder.path, name));
      utimesSync(join(folder.path, name), at, at);
    }
    const { runAt } = await schedule(world, folder.path);
    await runAt(0);
    expect(readdirSync(folder.path).sort()).toEqual([
      '.lkm-work-new',
      'lkm-2026-11-21T10-00-00Z.db',
      'lkm-2026-11-21T10-00-00Z.db.json',
      'mine',
    ]);
  });
});

describe('a backup that fails', () => {
  it('leaves nothing, is logged, and is tried again at the next look', async ({ world, folder }) => {
    const job = backupJob(
      `${world.location}.gone`,
      { everyMs: HOUR_MS, keep: 1, folder: folder.path },
      { now: () => STARTED_AT },
    );
    const lines: string[] = [];
    const log = await createLog('json', { write: (line) => lines.push(line) });
    const jobs = createJobs({ store: world.store, log });
    jobs.start([job]);
    jobs.wake('backups');
    await expect.poll(jobs.health).toMatchObject([{ runs: 1, failures: 1 }]);
    jobs.wake('backups');
    await expect.poll(jobs.health).toMatchObject([{ runs: 2, failures: 2 }]);
    await jobs.stop();
    expect(lines.join('')).toContain('does not exist');
    expect(readdirSync(folder.path)).toEqual([]);
  });
});
