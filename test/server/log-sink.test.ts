import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogSink, gatherLines, openLog } from '../../src/server/log.ts';
import { createFolder } from '../support/engines.ts';
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

  it('keeps no more than a bounded number of lines for a sink that hangs', async () => {
    const hanging = Promise.withResolvers<void>();
    const written: string[] = [];
    const sink = gatherLines(
      {
        write: (lines) => {
          written.push(lines);
          return hanging.promise;
        },
      },
      (count) => `lost ${count}\n`,
    );
    const line = `${'x'.repeat(1_023)}\n`;
    sink.write('first\n');
    await new Promise(setImmediate);
    for (let index = 0; index < 2_000; index += 1) sink.write(line);
    hanging.resolve();
    await sink.flush();
    const [first, rest = ''] = written;
    expect([first, rest.slice(0, 10), rest.length]).toEqual([
      'first\n',
      'lost 976\nx',
      'lost 976\n'.length + 1_048_576,
    ]);
    expect(written).toHaveLength(2);
  });

  it('does not stop the server, on a full disk', async () => {
    const fd = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(fd));
    await using service = await startTestServer({ logTo: createLogSink(fd) });
    for (let index = 0; index < 20; index += 1) {
      expect((await service.call('GET', '/customer')).status).toBe(200);
    }
  });

  it('does not stop the server when nothing is open there any more', async () => {
    await using folder = await createFolder();
    const fd = openSync(join(folder.path, 'log'), 'w');
    closeSync(fd);
    await using service = await startTestServer({ logTo: createLogSink(fd) });
    expect((await service.call('GET', '/customer')).status).toBe(200);
  });
});

describe('a log in a file', () => {
  it('holds every line when the server has stopped', async () => {
    await using folder = await createFolder();
    const path = join(folder.path, 'log');
    const fd = openSync(path, 'w');
    await using service = await startTestServer({ logTo: createLogSink(fd) });
    await service.call('GET', '/customer');
    await service.server.close();
    closeSync(fd);
    expect(readFileSync(path, 'utf8')).toMatch(/"route":"\/customer","status":200.*\n$/);
  });
});
