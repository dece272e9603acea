import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/ports.ts';
import { startLoad } from '../load.ts';
import { createCustomer, idOf } from '../operations.ts';
import { lkm, start } from '../process.ts';
import { fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

/** About 150 events per second. */
const LOAD = { clients: 8, pauseMs: 50, only: createCustomer };
/** How often the command is killed in a round; its server once. */
const KILLS = 4;
/** How long the last events may take once no more are made. */
const SETTLE_MS = 30_000;

/** `lkm events tail` piped to a program, started again behind the last line that the program has got. */
export const tail: Scenario = {
  name: 'tail',
  about: 'kill -9 of lkm events tail, also while its pipe is full, and of its server; each number comes once, in order',
  engines: ['sqlite'],
  controls: [['event-skipped', 'sqlite']],
  share: 2,
  shortRounds: 1,
  begin:
    () =>
    async ({ run: { sabotage }, stage, report, random }) => {
      using home = mkdtempDisposableSync(join(tmpdir(), 'lkm-faults-home-'));
      const port = await freePort();
      let server = await stage.start({ port });
      const url = server.url;
      const env = {
        ...{ PATH: process.env.PATH, HOME: home.path, LKM_STATE_DIR: home.path },
        ...{ LKM_BASE_URL: url, LKM_TOKEN: stage.world.token },
      };
      const load = startLoad(stage.ledger, random, { ...LOAD, route: () => url });

      // The program behind the pipe: takes whole lines, of which each has to be the next event.
      const customers = new Set<string>();
      let last = 0;
      const take = (line: string) => {
        const { seq, resource_id: id }: { readonly seq: number; readonly resource_id: string } = JSON.parse(line);
        const isNext = last === 0 || seq === last + 1;
        if (!isNext) fail(report, seq > last ? 'lost' : 'doubled', `event ${seq} came after ${last}`);
        last = seq;
        customers.add(id);
      };
      const follow = () => {
        const after = last === 0 || sabotage === null ? last : last + 1;
        const child = start([...lkm, 'events', 'tail', '--json', '--after', String(after)], { env, isQuiet: true });
        let rest = '';
        child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
          const lines = `${rest}${chunk}`.split('\n');
          // Of a line that was cut off the program makes nothing.
          rest = lines.pop() ?? '';
          for (const line of lines) take(line);
        });
        let hasEnded = false;
        const closed = new Promise((resolve) => child.stdout.once('close', resolve));
        void child.ended.then(() => {
          hasEnded = true;
        });
        return { child, closed, hasEnded: () => hasEnded };
      };
      let following = follow();
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(random.between(1_000, 3_000));
        if (kill === 1) {
          await server.kill();
          server = await stage.start({ port });
          await sleep(random.between(500, 1_500));
        }
        // Of some, the program stops reading first, so that the pipe is full.
        const isFull = random.below(3) === 0;
        if (isFull) following.child.stdout.pause();
        await sleep(isFull ? random.between(100, 1_000) : 0);
        following.child.signal('SIGKILL');
        following.child.stdout.resume();
        await following.closed;
        following = follow();
      }
      const asked = await load.stop();
      const isMissing = () => asked.filter((intent) => !customers.has(idOf(intent))).length;
      for (const end = performance.now() + SETTLE_MS; isMissing() > 0 && performance.now() < end; ) {
        // One that began while its server was not there has said so and ended; one that follows goes on.
        if (following.hasEnded()) following = follow();
        await sleep(100);
        if (sabotage !== null) break;
      }
      await following.child.end('SIGKILL');
      await server.stop(10_000);
      if (isMissing() > 0) fail(report, 'lost', `${isMissing()} customers were made, and no line tells of them`);
    },
};
