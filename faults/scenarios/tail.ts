import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/support/ports.ts';
import { lkm, serve } from '../command.ts';
import { startProducing } from '../produce.ts';
import { fail } from '../report.ts';
import { inWorlds, type Scenario, type WorldRound } from '../scenario.ts';

const EVENTS_PER_SECOND = 150;
/** How often the command is killed in a round; its server once. */
const KILLS = 4;
/** How long the last events may take once no more are made. */
const SETTLE_MS = 30_000;

/** `lkm events tail` piped to a program, started again behind the last line that the program has got. */
export const tail: Scenario = {
  name: 'tail',
  about: 'kill -9 of lkm events tail, also while its pipe is full, and of its server; each number comes once, in order',
  engines: ['sqlite'],
  controls: [{ sabotage: 'event-skipped', engine: 'sqlite' }],
  lacks: () => null,
  run: (run) => inWorlds(tail, run, play),
};

async function play({ run: { sabotage }, world, folder, report, random }: WorldRound): Promise<void> {
  const home = { PATH: process.env.PATH, HOME: folder, LKM_STATE_DIR: folder };
  const port = await freePort();
  const startServer = () => serve(world.db, { cwd: folder, env: home, port, rateLimit: 10_000_000 });
  let server = await startServer();
  const url = `http://127.0.0.1:${port}`;
  const started = performance.now();
  const allowed = () => ((performance.now() - started) / 1_000) * EVENTS_PER_SECOND;
  const producing = startProducing({ urlOf: () => url, token: world.token, allowed });

  // The program behind the pipe: takes whole lines, of which each has to be the next event.
  const customers = new Set<string>();
  let last = 0;
  const take = (line: string) => {
    const { seq, resource_id: id }: { readonly seq: number; readonly resource_id: string } = JSON.parse(line);
    if (last > 0 && seq !== last + 1) fail(report, seq > last ? 'lost' : 'doubled', `event ${seq} came after ${last}`);
    last = seq;
    customers.add(id);
  };
  const env = { ...home, LKM_BASE_URL: url, LKM_TOKEN: world.token };
  const follow = () => {
    const after = last === 0 || sabotage === null ? last : last + 1;
    const argv = [lkm, 'events', 'tail', '--json', '--after', String(after)];
    const child = spawn(process.execPath, argv, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n');
      // Of a line that was cut off the program makes nothing.
      rest = lines.pop() ?? '';
      for (const line of lines) take(line);
    });
    return child;
  };
  let following = follow();
  for (let kill = 0; kill < KILLS; kill += 1) {
    await sleep(random.between(1_000, 3_000));
    if (kill === 1) {
      server.kill('SIGKILL');
      await once(server, 'exit');
      server = await startServer();
      await sleep(random.between(500, 1_500));
    }
    // Of some, the program stops reading first, so that the pipe is full.
    const isFull = random.below(3) === 0;
    if (isFull) following.stdout.pause();
    await sleep(isFull ? random.between(100, 1_000) : 0);
    following.kill('SIGKILL');
    following.stdout.resume();
    await once(following, 'close');
    following = follow();
  }
  const made = await producing.end();
  report.acknowledged += made.size;
  const isMissing = () => [...made].filter((id) => !customers.has(id)).length;
  for (const end = performance.now() + SETTLE_MS; isMissing() > 0 && performance.now() < end; ) {
    // One that began while its server was not there has said so and ended; one that follows goes on.
    if (following.exitCode !== null) following = follow();
    await sleep(100);
    if (sabotage !== null) break;
  }
  following.kill('SIGKILL');
  server.kill('SIGTERM');
  await once(server, 'exit');
  if (isMissing() > 0) fail(report, 'lost', `${isMissing()} customers were acknowledged, and no line tells of them`);
}
