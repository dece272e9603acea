import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { perform, replaySome, startLoad } from '../clients.ts';
import { countUnsettling } from '../ledger.ts';
import { createKey } from '../operations.ts';
import { fail, note, type Report } from '../report.ts';
import { inRounds, type Scenario } from '../scenario.ts';
import { lacksMounts, mountSmallDisk } from '../small-disk.ts';
import { someServer } from '../stage.ts';

const CLIENTS = 12;

const MEGABYTES = 8;

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
    { sabotage: 'log-throws', engine: 'sqlite' },
    { sabotage: 'losses-uncounted', engine: 'sqlite' },
  ],
  lacks: lacksMounts,
  async run(run) {
    const disk = await mountSmallDisk(MEGABYTES);
    let lostLines = 0;
    try {
      const report = await inRounds(logDisk, run, async ({ stage, report, random, index }) => {
        const { ledger, world } = stage;
        const log = index % 3 === 2 ? FULL : join(disk.folder, 'log');
        const server = await stage.start(world.db, { log });
        const route = () => someServer(stage, 0);
        const [sent, unsettled] = [ledger.sent, countUnsettling(ledger)];
        const load = startLoad(ledger, random, CLIENTS, route);
        await sleep(random.between(50, 300));
        if (log !== FULL) disk.fill();
        const full = ledger.sent;
        await sleep(random.between(300, 1_000));
        // However slow the machine is: until more lines wait than the log keeps.
        for (let looks = 0; looks < 100 && ledger.sent - full < LINES_TO_LOSE; looks += 1) await sleep(100);
        if (log !== FULL) disk.free();
        await sleep(random.between(50, 300));
        await replaySome(ledger, await load.stop(), 20, route);
        await perform(ledger, createKey, route);
        if (countUnsettling(ledger) > unsettled) fail(report, 'wrong', 'a request was not answered on a full log disk');
        if (!(await server.stop(STOPPING_MS))) fail(report, 'wrong', 'the server did not stop');
        if (log === FULL) return;
        lostLines += checkLog(report, readFileSync(log, 'utf8'), ledger.sent - sent);
        rmSync(log);
      });
      // A disk that was never full long enough has tried nothing.
      if (lostLines === 0) fail(report, 'wrong', 'no log line was lost');
      note(report, `${lostLines} log lines were lost`);
      return report;
    } finally {
      await disk.remove();
    }
  },
};

/** Each request has its line, or is one of those that the log says were lost; returns how many these were. */
function checkLog(report: Report, text: string, requests: number): number {
  let [written, lost] = [0, 0];
  for (const line of text.split('\n')) {
    const entry = parse(line);
    if (entry.msg === 'request') written += 1;
    lost += entry.lost ?? 0;
  }
  if (written + lost < requests) {
    fail(report, 'wrong', `${requests} requests, but ${written} lines and ${lost} that were said to be lost`);
  }
  return lost;
}

/** A line of the log; nothing when the disk ran full in the middle of it. */
function parse(line: string): { msg?: string; lost?: number } {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}
