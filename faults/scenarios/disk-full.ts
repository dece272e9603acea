import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeKey, perform } from '../clients.ts';
import { type Answer, type Intent, isSuccess, nameOf } from '../ledger.ts';
import { createKey, operations } from '../operations.ts';
import { fail } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { lacksMounts, mountSmallDisk, type SmallDisk } from '../small-disk.ts';
import { someServer } from '../stage.ts';
import { makeWorld, type World } from '../world.ts';

/** The log alone takes up to 64 of them. */
const MEGABYTES = 144;

/** The log may have room of its own before it has to grow: this many requests are sure to use it up. */
const ENOUGH = 4_000;

/** A full disk: writes are refused and leave nothing, reads go on, and with space again all is as before. */
export const diskFull: Scenario = {
  name: 'disk-full',
  about: 'the disk runs full and is freed, without a restart',
  engines: ['sqlite'],
  controls: [{ sabotage: 'early-answer', engine: 'sqlite' }],
  lacks: lacksMounts,
  run(run) {
    let disk: SmallDisk;
    const newWorld = async (): Promise<World> => {
      disk = await mountSmallDisk(MEGABYTES);
      return moveTo(disk, await makeWorld(run.engine, run.cluster));
    };
    return inRounds(
      diskFull,
      run,
      async ({ stage, report, random }) => {
        const { ledger, world } = stage;
        const route = () => someServer(stage, 0);
        await stage.haveServers(1);
        const licenseKey = await makeKey(ledger, 1, route);
        const prepared: Intent[] = [];
        for (const operation of operations) {
          const intent = await ledger.intend(operation, route);
          if (intent !== null) prepared.push(intent);
        }

        disk.fill();
        const refused: Intent[] = [];
        // Written to the log, whose index has no room to grow: nobody knows yet whether it counts (SQLITE_IOERR_SHMSIZE).
        const doubtful: Intent[] = [];
        const ask = async (intent: Intent) => {
          const answer = await ledger.send(intent, route());
          const got = answer === null ? 'nothing' : nameOf(answer);
          if (got === '503/1') refused.push(intent);
          else if (got === '500/1') doubtful.push(intent);
          else if (answer === null || !isSuccess(answer)) fail(report, 'wrong', `answered ${got} on a full disk`);
        };
        for (let count = 0; refused.length === 0 && count < ENOUGH; count += 1)
          await ask(ledger.intendOn(createKey, {}));
        if (refused.length === 0) fail(report, 'wrong', 'a full disk refused nothing');
        for (const intent of prepared) await ask(intent);

        // Smaller than with a key: what the log still has room for is gone first.
        let bare: Answer | null = null;
        for (let count = 0; count < ENOUGH && (count === 0 || bare?.status === 200); count += 1) {
          bare = await ledger.sendBare(ledger.intendOn(createKey, {}).ask, route());
        }
        if (bare === null || nameOf(bare) !== '500/1') fail(report, 'wrong', 'without a key the answer is not 500/1');
        const path = `/key?productId=${world.productId}&licenseKey=${licenseKey}`;
        const read = await ledger.sendBare({ method: 'GET', path, body: null }, route());
        if (read?.status !== 200) fail(report, 'wrong', `a read was answered ${read?.status}`);

        disk.free();
        for (const intent of [...refused, ...doubtful, ...prepared]) await ledger.settle(intent, route);
        await perform(ledger, random.pick(operations), route);
        if (random.below(4) === 0) await stage.servers[0]?.kill();
      },
      newWorld,
    );
  },
};

/** Puts a new world on the disk. It is read from a copy: SQLite follows the way into the other namespace by itself. */
async function moveTo({ folder, inside, through, remove }: SmallDisk, world: World): Promise<World> {
  copyFileSync(world.db, join(folder, 'lkm.db'));
  return {
    ...world,
    db: join(inside, 'lkm.db'),
    through,
    async read() {
      for (const end of ['', '-wal', '-shm']) rmSync(`${world.db}${end}`, { force: true });
      for (const end of ['', '-wal']) {
        const from = join(folder, `lkm.db${end}`);
        if (existsSync(from)) copyFileSync(from, `${world.db}${end}`);
      }
      return world.read();
    },
    async remove() {
      await remove();
      await world.remove();
    },
  };
}
