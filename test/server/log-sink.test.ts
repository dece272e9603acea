import { spawnSync } from 'node:child_process';
import { closeSync, createReadStream, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createLogSink, openLog } from '../../src/server/log.ts';
import { test as it } from '../support/fixtures.ts';
import { startTestServer } from '../support/server.ts';

/** A sink that fails until it is mended. */
function failingSink(how: 'throws' | 'rejects') {
  const written: string[] = [];
  let isBroken = true;
  return {
    written,
    mend: () => {
      isBroken = false;
    },
    write: (lines: string) => {
      if (!isBroken) return how === 'rejects' ? Promise.resolve(written.push(lines)) : written.push(lines);
      if (how === 'rejects') return Promise.reject(new Error('ENOSPC'));
      throw new Error('ENOSPC');
    },
  };
}

describe('a log whose sink fails', () => {
  it.each(['throws', 'rejects'] as const)('goes on when it %s, and later says how much was lost', async (how) => {
    const sink = failingSink(how);
    const { log, flush } = await openLog('json', sink);
    for (let index = 0; index < 3; index += 1) log.info({ index }, 'request');
    await flush();
    log.info({ index: 3 }, 'request');
    await flush();
    sink.mend();
    log.info({ index: 4 }, 'request');
    await flush();
    log.info({ index: 5 }, 'request');
    await flush();
    const lines = sink.written.join('').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, lost: 4, msg: '4 log lines were lost' },
      { index: 4 },
      { index: 5 },
    ]);
  });

  it('keeps a bounded number of lines for a reader that has stopped reading, and says how many more there were', async ({
    folder,
  }) => {
    const pipe = join(folder.path, 'pipe');
    spawnSync('mkfifo', [pipe]);
    const fd = openSync(pipe, 'r+');
    const { log, flush } = await openLog('json', createLogSink(fd));
    const text = 'x'.repeat(1_000);
    for (let index = 0; index < 2_000; index += 1) log.info({ index, text }, 'request');
    const reader = createReadStream('', { fd, autoClose: false });
    onTestFinished(() => void reader.destroy());
    const lines: { index?: number; lost?: number }[] = [];
    createInterface(reader).on('line', (line) => lines.push(JSON.parse(line)));
    await vi.waitUntil(() => lines.length > 50 && lines.at(-1)?.index === lines.length - 1);
    await flush();
    await vi.waitUntil(() => lines.at(-1)?.lost !== undefined);
    const { lost = 0 } = lines.pop() ?? {};
    expect(lines.map(({ index }) => index)).toEqual(lines.keys().toArray());
    expect(lines.length + lost).toBe(2_000);
    // What waits, what is being written, and what the pipe holds.
    expect(lines.length * 1_060).toBeLessThan(3 * 65_536);
  });

  it('does not stop the server, on a full disk', async () => {
    // It stays open: the sink tries again for ever, and would write into whatever has the number next.
    const fd = openSync('/dev/full', 'w');
    await using service = await startTestServer({ logTo: createLogSink(fd) });
    for (let index = 0; index < 20; index += 1) {
      expect((await service.call('GET', '/customer')).status).toBe(200);
    }
  });

  it('does not stop the server when nothing is open there any more', async () => {
    const closed = 1_000_000;
    await using service = await startTestServer({ logTo: createLogSink(closed) });
    expect((await service.call('GET', '/customer')).status).toBe(200);
  });
});

describe('a log in a file', () => {
  it('holds every line when the server has stopped', async ({ folder }) => {
    const path = join(folder.path, 'log');
    const fd = openSync(path, 'w');
    await using service = await startTestServer({ logTo: createLogSink(fd) });
    await service.call('GET', '/customer');
    await service.server.close();
    closeSync(fd);
    expect(readFileSync(path, 'utf8')).toMatch(/"route":"\/customer","status":200.*\n$/);
  });
});
