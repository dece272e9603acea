import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { lacksMounts, mountSmallDisk, type SmallDisk } from '../../faults/small-disk.ts';
import { bin } from '../support/installed.ts';

const patient = { timeout: 20_000, interval: 200 };

/** A command in the place where the disk is mounted. */
const commandOn = ({ through, inside }: SmallDisk, words: readonly string[]) => {
  const [program = '', ...argv] = [...through, process.execPath, bin, ...words, '--db', join(inside, 'lkm.db')];
  return { program, argv, env: { PATH: process.env.PATH, HOME: inside } };
};

/** Has what is mounted there change under a server that is running, by a mount of the same folder over it. */
function mountReadOnly({ through, inside }: SmallDisk): void {
  const script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"';
  const [program = '', ...argv] = [...through, 'sh', '-c', script, 'sh', inside];
  expect(spawnSync(program, argv, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
}

function unmount({ through, inside }: SmallDisk): void {
  const [program = '', ...argv] = [...through, 'umount', inside];
  expect(spawnSync(program, argv).status).toBe(0);
}

it.skipIf(lacksMounts() !== null).each([
  ['is full', 'the disk is full', (disk: SmallDisk) => disk.fill(), (disk: SmallDisk) => disk.free()],
  ['has become read-only', 'cannot be written to', mountReadOnly, unmount],
])('a server whose disk %s is not ready until it is not, and says why, as doctor does', async (_, why, spoil, mend) => {
  const disk = await mountSmallDisk(24);
  onTestFinished(() => disk.remove());
  const { program, argv, env } = commandOn(disk, ['serve', '--port', '0', '--json', '--log-format', 'json']);
  const child = spawn(program, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr.on('data', (bytes) => {
    log += bytes;
  });
  const { value: line } = await createInterface(child.stdout)[Symbol.asyncIterator]().next();
  const { url } = JSON.parse(line ?? '') as { url: string };
  const ready = async () => (await fetch(`${url}/ready`)).status;
  expect(await ready()).toBe(200);
  spoil(disk);
  expect(await ready()).toBe(503);
  await expect.poll(() => log, patient).toContain(why);
  mend(disk);
  expect(await ready()).toBe(200);
  child.kill('SIGTERM');
  await exited;

  spoil(disk);
  const doctor = commandOn(disk, ['doctor']);
  const { status, stdout } = spawnSync(doctor.program, doctor.argv, { env, encoding: 'utf8' });
  expect({ status, stdout }).toMatchObject({ status: 13, stdout: expect.stringContaining(why) });
  mend(disk);
});
