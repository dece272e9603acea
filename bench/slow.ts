import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepare } from '../faults/world.ts';
import { createFolder } from '../test/support/engines.ts';
import { startServing } from '../test/support/serving.ts';

// npm run bench:slow
//
// How long an ordinary client waits, alone and beside 1 000 connections that send a byte a second, and when these are
// gone. Ends with 1 when its p99 is more than three times as long, or when one of them is left after 15 s. Slow clients,
// the ordinary one and the server are processes of their own.

const CONNECTIONS = 1_000;
/** Of one address they would be no more than 256. */
const ADDRESSES = 5;
const PAUSE_MS = 5;
const [WARM_UP_MS, QUIET_MS] = [3_000, 8_000];
const [MOST_RATIO, MOST_SECONDS] = [3, 15];

if (process.argv[2] === 'slow') await beSlow(Number(process.argv[3]));
else await compare();

async function compare(): Promise<void> {
  await using folder = await createFolder();
  const db = join(folder.path, 'lkm.db');
  const { token } = await prepare(db);
  await using serving = await startServing(db);
  await measure(serving.url, token, isOverAfter(WARM_UP_MS));
  const quiet = await measure(serving.url, token, isOverAfter(QUIET_MS));

  const slow = fork(import.meta.filename, ['slow', new URL(serving.url).port]);
  await once(slow, 'message');
  const started = performance.now();
  let gone: number | null = null;
  slow.once('message', () => {
    gone = (performance.now() - started) / 1_000;
  });
  const isLate = isOverAfter(MOST_SECONDS * 1_000);
  const beside = await measure(serving.url, token, () => gone !== null || isLate());
  slow.kill();

  const ratio = p99(beside) / p99(quiet);
  print('quiet', quiet);
  print(`beside ${CONNECTIONS} slow ones`, beside);
  const left = gone === null ? `some are left after ${MOST_SECONDS} s` : `gone after ${Number(gone).toFixed(1)} s`;
  process.stdout.write(`p99 is ${ratio.toFixed(2)} times as long; the slow ones are ${left}\n`);
  process.exitCode = ratio <= MOST_RATIO && gone !== null ? 0 : 1;
}

/** Whether so many milliseconds have passed since this call. */
function isOverAfter(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() >= end;
}

/** Asks one time after the other, with a pause, until it is over; returns how long each took. */
async function measure(url: string, token: string, isOver: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver()) {
    const asked = performance.now();
    await ask(`${url}/customer`, token);
    times.push(performance.now() - asked);
    await sleep(PAUSE_MS);
  }
  return times;
}

/** On a connection of its own, as a client that comes anew. */
function ask(url: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, headers: { authorization: `Bearer ${token}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`));
      response.resume().once('end', resolve);
    });
    sent.once('error', reject).end();
  });
}

/** Opens the slow connections; tells its parent when all are open, and when none is left. */
async function beSlow(port: number): Promise<void> {
  const starts = [
    '',
    'GET /customer HTTP/1.1\r\nHost: localhost\r\nX-Slow: ',
    'POST /customer HTTP/1.1\r\nHost: localhost\r\n',
  ];
  const sockets = new Set<Socket>();
  for (let i = 0; i < CONNECTIONS; i += 1) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (i % ADDRESSES)}` });
    socket.on('error', () => {}).resume();
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) process.send?.('gone');
    });
    await once(socket, 'connect');
    socket.write(starts[i % starts.length] ?? '');
    sockets.add(socket);
  }
  process.send?.('open');
  for (;;) {
    await sleep(1_000);
    for (const socket of sockets) if (socket.writable) socket.write(' ');
  }
}

function p99(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function print(title: string, times: readonly number[]): void {
  process.stdout.write(
    `${title.padEnd(26)}${String(times.length).padStart(6)} requests, p99 ${p99(times).toFixed(1)} ms\n`,
  );
}
