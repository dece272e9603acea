import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, expectAnswer, type Intent, isSuccess, nameOf } from '../ledger.ts';
import { makeKey, perform, underLoad } from '../load.ts';
import { createKey, operations } from '../operations.ts';
import { count, fail, type Report } from '../report.ts';
import type { Round, Scenario } from '../scenario.ts';
import { lacksMounts, mountSmallDisk, type SmallDisk } from '../small-disk.ts';
import { makeWorld, type World } from '../world.ts';

/** The log of the database alone takes up to 64 of them. */
const DATABASE_MEGABYTES = 144;

/** The log may have room of its own before it has to grow: this many requests are sure to use it up. */
const ENOUGH = 4_000;

function diskOf({ stage }: Round): SmallDisk {
  if (stage.world.disk === undefined) throw new Error('the world has no disk of its own');
  return stage.world.disk;
}

/** A full disk: writes are refused and leave nothing, reads go on, and with space again all is as before. */
export const diskFull: Scenario = {
  name: 'disk-full',
  about: 'the disk runs full and is freed, without a restart',
  engines: ['sqlite'],
  controls: [['early-answer', 'sqlite']],
  share: 1,
  shortRounds: 3,
  lacks: lacksMounts,
  newWorld: async (engine, cluster) =>
    moveTo(await mountSmallDisk(DATABASE_MEGABYTES), await makeWorld(engine, cluster)),
  begin: () => async (round) => {
    const { stage, report, random } = round;
    const { ledger, world, url } = stage;
    const disk = diskOf(round);
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

const LOG_MEGABYTES = 8;

/** A disk that never has room. */
const FULL = '/dev/full';

/** More than the log keeps in memory, at a hundred bytes a line. */
const LINES_TO_LOSE = 800;

/** How long a server that stops may take. */
const STOPPING_MS = 15_000;

/** A full disk under the log alone: every request is answered as before, and the log says later what is missing. */
export const logDisk: Scenario = {
  name: 'log-disk',
  about: 'the disk of the log runs full under load and is freed, or never has room',
  engines: ['sqlite'],
  controls: [
    ['log-throws', 'sqlite'],
    ['losses-uncounted', 'sqlite'],
  ],
  share: 1,
  shortRounds: 3,
  tries: { what: 'log lines that were lost', rounds: 1 },
  lacks: lacksMounts,
  async newWorld(engine, cluster) {
    const [disk, world] = [await mountSmallDisk(LOG_MEGABYTES), await makeWorld(engine, cluster)];
    const remove = async () => {
      await disk.remove();
      await world.remove();
    };
    return { ...world, disk, remove };
  },
  begin: () => async (round) => {
    const { stage, report, random, index } = round;
    const { ledger, url } = stage;
    const disk = diskOf(round);
    const log = index % 3 === 2 ? FULL : join(disk.folder, 'log');
    const server = await stage.start({ log });
    const { sent, unsettled } = ledger;
    await underLoad(ledger, random, { clients: 12, route: url }, async () => {
      await sleep(random.between(50, 300));
      if (log !== FULL) disk.fill();
      const full = ledger.sent;
      await sleep(random.between(300, 1_000));
      // However slow the machine is: until more lines wait than the log keeps.
      for (let looks = 0; looks < 100 && ledger.sent - full < LINES_TO_LOSE; looks += 1) await sleep(100);
      if (log !== FULL) disk.free();
      await sleep(random.between(50, 300));
    });
    await perform(ledger, createKey, url);
    if (ledger.unsettled > unsettled) fail(report, 'wrong', 'a request was not answered on a full log disk');
    if (!(await server.stop(STOPPING_MS))) fail(report, 'wrong', 'the server did not stop');
    if (log === FULL) return;
    checkLog(report, readFileSync(log, 'utf8'), ledger.sent - sent);
    rmSync(log);
  },
};

/** Each request has its line, or is one of those that the log says were lost. */
function checkLog(report: Report, text: string, requests: number): void {
  let [written, lost] = [0, 0];
  for (const line of text.split('\n')) {
    const entry = parse(line);
    if (entry.msg === 'request') written += 1;
    lost += entry.lost ?? 0;
  }
  if (written + lost < requests) {
    fail(report, 'wrong', `${requests} requests, but ${written} lines and ${lost} that were said to be lost`);
  }
  count(report, 'log lines that were lost', lost);
}

/** A line of the log; nothing when the disk ran full in the middle of it. */
function parse(line: string): { msg?: string; lost?: number } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
