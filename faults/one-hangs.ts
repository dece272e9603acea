import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { callAs } from './scenarios/webhooks.ts';
import { type Server, setStage } from './stage.ts';
import { type Engine, makeWorld, openCluster } from './world.ts';

// Measures what a receiver that hangs at every twentieth event costs others: `node faults/one-hangs.ts [postgres] [EVENTS]`.
// Events are sent to a plain webhook, one in order, and one that hangs, while servers are killed; then without the last.

const engine: Engine = process.argv.includes('postgres') ? 'postgres' : 'sqlite';
const count = Number(process.argv.find((word) => /^\d+$/.test(word)) ?? 5_000);
const KILLS = engine === 'sqlite' ? 5 : 1;
const CLIENTS = 8;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** A program that accepts events, but for those that it hangs at when they come first. */
async function openReceiver(hangs: (seq: number) => boolean) {
  const seen: { readonly seq: number; readonly at: number; readonly lagMs: number }[] = [];
  const hung = new Set<number>();
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => '');
    if (body === '') return void response.destroy();
    const { seq, created_at }: { readonly seq: number; readonly created_at: string } = JSON.parse(body);
    if (hangs(seq) && !hung.has(seq)) return void hung.add(seq);
    seen.push({ seq, at: Date.now(), lagMs: Date.now() - Date.parse(created_at) });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, seen, close: () => server.close().closeAllConnections() };
}

async function measure(withHanging: boolean): Promise<number> {
  const cluster = engine === 'postgres' ? await openCluster() : null;
  const run = { engine, cluster, seed: 1, rounds: 1, seconds: 600, sabotage: null };
  const stage = await setStage(run, await makeWorld(engine, cluster));
  const replicas = engine === 'postgres' ? 2 : 1;
  const setup = { webhooks: { timeoutMs: 2_000 } };
  const receivers = {
    plain: await openReceiver(() => false),
    ordered: await openReceiver(() => false),
    ...(withHanging && { hanging: await openReceiver((seq) => seq % 20 === 0) }),
  };
  await stage.haveServers(replicas, setup);
  const call = (method: string, path: string, body?: object) =>
    callAs(stage.world.token, stage.url(), method, path, body);
  for (const [name, { url }] of Object.entries(receivers)) {
    await call('POST', '/webhook', { url, types: ['customer.created'], ordered: name === 'ordered' });
  }
  let made = 0;
  const began = Date.now();
  const work = async () => {
    while (made < count) {
      made += 1;
      // Half of what one server issues, so that deliveries keep up.
      await call('POST', '/customer', { name: 'Zoë' }).catch(() => sleep(50));
      await sleep(30);
    }
  };
  const working = Promise.all(Array.from({ length: CLIENTS }, work));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    while (made < (count * kill) / (KILLS + 1)) await sleep(20);
    await (stage.servers[0] as Server).kill();
    if (engine === 'sqlite') await stage.haveServers(replicas, setup);
    else void sleep(25_000).then(() => stage.haveServers(replicas, setup));
    while (engine === 'postgres' && stage.servers.length < replicas) await sleep(100);
  }
  await working;
  const { events } = await stage.world.read();
  const seqs = events.flatMap(({ seq, content }) => (JSON.parse(content).type === 'customer.created' ? [seq] : []));
  const isDone = () =>
    Object.values(receivers).every(({ seen }) => new Set(seen.map(({ seq }) => seq)).size >= seqs.length);
  for (const end = Date.now() + 400_000; !isDone() && Date.now() < end; ) await sleep(200);
  say(
    `${withHanging ? 'with' : 'without'} one that hangs, ${engine}: ${seqs.length} events in ${(Date.now() - began) / 1_000} s`,
  );
  for (const [name, { seen, close }] of Object.entries(receivers)) {
    const got = new Set(seen.map(({ seq }) => seq));
    const firsts = [...got];
    const isInOrder = firsts.every((seq, at) => at === 0 || seq > (firsts[at - 1] ?? 0));
    const lags = seen.map(({ lagMs }) => lagMs).toSorted((a, b) => a - b);
    const at = (part: number) => lags[Math.floor((lags.length - 1) * part)];
    const silence = seen.reduce((most, { at }, index) => Math.max(most, at - (seen[index - 1]?.at ?? at)), 0);
    say(
      `  ${name}: ${seqs.filter((seq) => !got.has(seq)).length} missing, ${seen.length - got.size} twice, ` +
        `in order: ${isInOrder}, lag p50 ${at(0.5)} p99 ${at(0.99)} ms, longest silence ${silence} ms`,
    );
    close();
  }
  const lags = receivers.plain.seen.map(({ lagMs }) => lagMs);
  for (const server of [...stage.servers]) await server.kill();
  await stage.ledger.close();
  await stage.world.remove();
  await cluster?.stop();
  return lags.reduce((sum, lag) => sum + lag, 0) / lags.length;
}

const [alone, beside] = [await measure(false), await measure(true)];
say(`mean lag of the plain one: ${Math.round(alone)} ms alone, ${Math.round(beside)} ms beside it`);
process.exit(beside <= 2 * alone ? 0 : 1);
