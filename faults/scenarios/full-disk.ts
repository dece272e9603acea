import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Answer, expectAnswer, type Intent, isSuccess, nameOf } from '../ledger.ts';
import { makeKey, perform } from '../load.ts';
import { createKey, operations } from '../operations.ts';
import { fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { lacksMounts, mountSmallDisk, type SmallDisk } from '../small-disk.ts';
import { makeWorld, type World } from '../world.ts';

/** The log of the database alone takes up to 64 of them. */
const DATABASE_MEGABYTES = 144;

/** The log may have room of its own before it has to grow: this many requests are sure to use it up. */
const ENOUGH = 4_000;

/** A full disk: writes are refused and leave nothing, reads go on, and with space again all is as before. */
export const diskFull: Scenario = {
  name: 'disk-full',
  about: 'the disk runs full and is freed, without a restart',
  engines: ['sqlite'],
  controls: [['early-answer', 'sqlite']],
  share: 1,
  shortRounds: 3,
  lacks: lacksMounts,
  newWorld: async (...world) => moveTo(await mountSmallDisk(DATABASE_MEGABYTES), await makeWorld(...world)),
  begin:
    () =>
    async ({ stage, report, random }) => {
      const { ledger, world, url } = stage;
      const disk = world.disk as SmallDisk;
      await stage.haveServers(1);
      const licenseKey = await makeKey(ledger, 1, url);
      const prepared: Intent[] = [];
      for (const operation of operations) prepared.push(await ledger.intend(operation, url));

      disk.fill();
      let refused = 0;
      const asked: Intent[] = [];
      const ask = async (intent: Intent) => {
        const answer = await ledger.send(intent, url());
        const got = nameOf(answer);
        if (got === '503/1') refused += 1;
        // 500: written to the log, whose index has no room to grow: nobody knows yet whether it counts (SQLITE_IOERR_SHMSIZE).
        if (got === '503/1' || got === '500/1') asked.push(intent);
        else if (answer === null || !isSuccess(answer)) fail(report, 'wrong', `answered ${got} on a full disk`);
      };
      for (let count = 0; refused === 0 && count < ENOUGH; count += 1) await ask(ledger.intendOn(createKey, {}));
      if (refused === 0) fail(report, 'wrong', 'a full disk refused nothing');
      for (const intent of prepared) await ask(intent);

      // Smaller than with a key: what the log still has room for is gone first.
      let bare: Answer | null = null;
      for (let count = 0; count < ENOUGH && (count === 0 || bare?.status === 200); count += 1) {
        bare = await ledger.sendBare(ledger.intendOn(createKey, {}).ask, url());
      }
      expectAnswer(report, bare, '500/1', 'without a key on a full disk');
      const path = `/key?productId=${world.productId}&licenseKey=${licenseKey}`;
      expectAnswer(report, await ledger.sendBare({ method: 'GET', path, body: null }, url()), '200/0', 'a read');

      disk.free();
      for (const intent of [...asked, ...prepared]) await ledger.settle(intent, url);
      await perform(ledger, random.pick(operations), url);
      if (random.below(4) === 0) await stage.servers[0]?.kill();
    },
};

/** Puts a new world on the disk. It is read from a copy: SQLite follows the way into the other namespace by itself. */
function moveTo(disk: SmallDisk, world: World): World {
  copyFileSync(world.db, join(disk.folder, 'lkm.db'));
  return {
    ...world,
    db: join(disk.inside, 'lkm.db'),
    through: disk.through,
    disk,
    async read() {
      for (const end of ['', '-wal', '-shm']) rmSync(`${world.db}${end}`, { force: true });
      for (const end of ['', '-wal']) {
        const from = join(disk.folder, `lkm.db${end}`);
        if (existsSync(from)) copyFileSync(from, `${world.db}${end}`);
      }
      return world.read();
    },
    async remove() {
      await disk.remove();
      await world.remove();
    },
  };
}
