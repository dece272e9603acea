import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_SEQ } from '../../src/contract/feed.ts';
import { freePort } from '../../test/support/ports.ts';
import { lkm, run, serve } from '../command.ts';
import { startProducing } from '../produce.ts';
import type { Random } from '../random.ts';
import { spread } from '../spread.ts';

/** Settings of a run. */
export interface TailPlan {
  readonly seconds: number;
  /** Events that are made per second. */
  readonly rate: number;
  /** How often the command is killed and started again behind the last line that it wrote. */
  readonly kills: number;
  /** How often its server is killed while it follows. */
  readonly serverKills: number;
  readonly random: Random;
  readonly say: (line: string) => void;
  /** Begins so many events too late after each kill: a control, which must fail. */
  readonly skips?: number;
}

/** Result of a run. */
export interface TailOutcome {
  readonly events: number;
  /** Whole lines that the program behind the pipe has got. */
  readonly lines: number;
  readonly kills: number;
  readonly serverKills: number;
  /** Everything that is not as it should be. */
  readonly wrong: readonly string[];
}

/** How long the last events may take once no more are made. */
const SETTLE_MS = 30_000;

const MAX_WRONG = 20;

/** The faults are over after this share of the run. */
const FAULTY_SHARE = 0.95;

/** Follows events with the built command, kills it and its server at random moments, and checks what was printed. */
export async function runTail(plan: TailPlan): Promise<TailOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-tail-'));
  try {
    return await play(plan, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function play(plan: TailPlan, folder: string): Promise<TailOutcome> {
  const { seconds, rate, random, say } = plan;
  const home = { PATH: process.env.PATH, HOME: folder, LKM_STATE_DIR: join(folder, 'state') };
  const db = (...argv: string[]) => run([...argv, '--db', 'lkm.db'], folder, home);
  await db('products', 'create', '--name', 'Engine Pro', '-q', '--create');
  const token = await db('tokens', 'create', '--kind', 'admin', '--name', 'tail', '-q');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startServer = () => serve('lkm.db', { cwd: folder, env: home, port, rateLimit: 10_000_000 });
  let server = await startServer();

  const started = performance.now();
  const secondsLeft = () => seconds - (performance.now() - started) / 1_000;
  const allowed = () => (seconds - secondsLeft()) * rate;
  const producing = startProducing({ urlOf: () => url, token, count: Number.POSITIVE_INFINITY, allowed });
  const program = openProgram();
  const env = { ...home, LKM_BASE_URL: url, LKM_TOKEN: token };
  const startTail = () => {
    const next = follow(env, folder, program, plan.skips ?? 0);
    void next.ended.then(({ code, lines }) => {
      if (code === null) return;
      // One that begins while its server is not there says so and ends; one that follows goes on.
      if (lines > 0) program.wrong.push(`the command ended by itself, with ${code} after ${lines} lines`);
      tail = startTail();
    });
    return next;
  };
  let tail = startTail();
  const count = { kill: 0, serverKill: 0 };
  const kinds = {
    async kill() {
      // Of some, the program stops reading first, so that the pipe is full.
      const isFull = random.below(3) === 0;
      if (isFull) tail.pause();
      await sleep(isFull ? random.between(100, 1_000) : 0);
      await tail.kill();
      tail = startTail();
      count.kill += 1;
    },
    async serverKill() {
      server.kill('SIGKILL');
      await once(server, 'exit');
      server = await startServer();
      count.serverKill += 1;
    },
  };
  for (const { at, kind } of spread({ kill: plan.kills, serverKill: plan.serverKills }, random)) {
    await sleep(Math.max(0, at * FAULTY_SHARE * seconds * 1_000 - (performance.now() - started)));
    await kinds[kind]();
    say(`${kind === 'kill' ? 'killed the command' : 'killed the server'}: ${program.last()} lines`);
  }
  await sleep(Math.max(0, secondsLeft() * 1_000));

  const made = await producing.end(() => true);
  const end = await lastSeq(url, token, made.size);
  const deadline = performance.now() + SETTLE_MS;
  while (program.last() < end && performance.now() < deadline) await sleep(100);
  await tail.kill();
  server.kill('SIGTERM');
  await once(server, 'exit');
  const wrong = [...program.wrong];
  if (program.last() !== end) wrong.push(`the last line is of event ${program.last()}, and there are ${end}`);
  const lost = [...made].filter((id) => !program.resources.has(id));
  if (lost.length > 0) wrong.push(`${lost.length} customers were acknowledged, and no line tells of them`);
  return { events: end, lines: program.lines(), kills: count.kill, serverKills: count.serverKill, wrong };
}

/** The program behind the pipe: takes whole lines, of which each has to be the next event. */
function openProgram() {
  const wrong: string[] = [];
  const resources = new Set<string>();
  let [lines, last] = [0, 0];
  return {
    wrong,
    resources,
    lines: () => lines,
    last: () => last,
    take(line: string) {
      const { seq, resource_id: id }: { readonly seq: number; readonly resource_id: string } = JSON.parse(line);
      if (seq !== last + 1 && wrong.length < MAX_WRONG) wrong.push(`event ${seq} came after ${last}`);
      lines += 1;
      last = seq;
      resources.add(id);
    },
  };
}

/** Starts `lkm events tail` behind the last line of the program. */
function follow(
  env: NodeJS.ProcessEnv,
  cwd: string,
  { take, last }: Pick<ReturnType<typeof openProgram>, 'take' | 'last'>,
  skips: number,
) {
  const argv = [lkm, 'events', 'tail', '--json', '--after', String(last() === 0 ? 0 : last() + skips)];
  const child = spawn(process.execPath, argv, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const closed = once(child, 'close');
  let [text, lines] = ['', 0];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const [rest = '', ...whole] = `${text}${chunk}`.split('\n').reverse();
    // Of a line that was cut off the program makes nothing.
    text = rest;
    for (const line of whole.reverse()) take(line);
    lines += whole.length;
  });
  return {
    /** Resolves at its end: to its exit code, null when it was killed, and how many lines it has written. */
    ended: closed.then(([code]: (number | null)[]) => ({ code: code ?? null, lines })),
    pause: () => void child.stdout.pause(),
    async kill() {
      child.kill('SIGKILL');
      child.stdout.resume();
      await closed;
    },
  };
}

/** The number of the last event, once all that was made has one. */
async function lastSeq(url: string, token: string, made: number): Promise<number> {
  const deadline = performance.now() + SETTLE_MS;
  for (let before = -1; performance.now() < deadline; await sleep(200)) {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/event/list?after=${MAX_SEQ}`, { headers });
    const { meta }: { readonly meta: { readonly last: number } } = JSON.parse(await response.text());
    if (meta.last === before && meta.last >= made) return meta.last;
    before = meta.last;
  }
  throw new Error(`${made} customers were acknowledged, and not all of them became events in time`);
}
