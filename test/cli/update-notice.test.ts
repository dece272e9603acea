import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../src/cli/config/settings.ts';
import { sayUpdate } from '../../src/cli/update-notice.ts';
import { fakeIo, lkm, NOW, type Surroundings, says, tempFolder } from './fake-io.ts';

const newer = JSON.stringify({ name: 'lkm', version: '1.2.10' });

/** A registry on a port of its own, and a folder in which commands ask it. */
async function registry(answer: RequestListener = (_, response) => response.end(newer)) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers['user-agent']}`);
    answer(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cwd = tempFolder();
  return {
    asked,
    url,
    kept: () => JSON.parse(readFileSync(join(cwd, '.local/state/lkm/update.json'), 'utf8')),
    run: (words = 'config path', { env, ...others }: Surroundings = {}) =>
      lkm(words.split(' '), { cwd, terminal: true, env: { LKM_UPDATE_CHECK: url, TERM: 'dumb', ...env }, ...others }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const DAY = 86_400_000;

describe('LKM_UPDATE_CHECK', () => {
  it('asks the registry once a day, and says in a line which version there is', async () => {
    await using at = await registry();
    const first = await at.run();
    expect(first).toEqual({
      code: 0,
      stdout: says('config.json\n'),
      stderr: 'lkm 1.2.10 is available; this is 0.0.0-dev\n',
    });
    expect(at.kept()).toEqual({ askedAt: NOW, version: '1.2.10' });
    expect((await at.run('config path', { now: NOW + DAY - 1 })).stderr).toBe('');
    expect(at.asked).toEqual(['GET /lkm/latest lkm/0.0.0-dev']);
    expect((await at.run('config path', { now: NOW + DAY })).stderr).toContain('1.2.10');
    // The clock was set back.
    expect((await at.run('config path', { now: NOW - DAY })).stderr).toContain('1.2.10');
  });

  it.each<[what: string, words: string, surroundings: Surroundings]>([
    ['it is not set', 'config path', { env: { LKM_UPDATE_CHECK: '' } }],
    ['it is off', 'config path', { env: { LKM_UPDATE_CHECK: 'off' } }],
    ['CI is set', 'config path', { env: { CI: 'true' } }],
    ['stderr is no terminal', 'config path', { terminal: { stdout: true } }],
    ['the command is quiet', 'config path -q', {}],
    ['the format is JSON', 'config path --json', {}],
    ['the format is JSON lines', 'config path --format jsonl', {}],
    ['the command failed', 'explain nothing', {}],
    ['the command was stopped', 'config path', { stop: AbortSignal.abort('SIGINT') }],
  ])('asks nothing where %s', async (_, words, surroundings) => {
    await using at = await registry();
    const { stderr } = await at.run(words, surroundings);
    expect({ stderr, asked: at.asked }).toEqual({ stderr: expect.not.stringContaining('1.2.10'), asked: [] });
  });

  it.each<[what: string, answer: RequestListener]>([
    ['refuses', (_, response) => response.writeHead(404).end(newer)],
    ['is none', (_, response) => response.end('<html>')],
    ['writes to the terminal', (_, response) => response.end(JSON.stringify({ version: '9.9.9\u001b[2J' }))],
    ['has the same version', (_, response) => response.end(JSON.stringify({ version: '0.0.0' }))],
    ['does not answer', () => {}],
    ['does not end its answer', (_, response) => response.write('{')],
  ])('says nothing and does not ask again that day where the registry %s', async (_, answer) => {
    await using at = await registry(answer);
    const startedAt = performance.now();
    expect(await at.run()).toEqual({ code: 0, stdout: says('config.json\n'), stderr: '' });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    await at.run();
    expect(at.asked).toHaveLength(1);
  });

  it.each([
    ['1.9.3', '1.10.0', 'lkm 1.10.0 is available; this is 1.9.3\n'],
    ['1.10.0', '1.10.0', ''],
    ['1.10.0', '1.9.3', ''],
    ['2.0.0', '1.10.0', ''],
  ])('of %s and %s says which one is newer', async (version, there, said) => {
    await using at = await registry((_, response) => response.end(JSON.stringify({ version: there })));
    const { io, printed } = fakeIo({ terminal: true, env: { TERM: 'dumb' } });
    await sayUpdate(at.url, readSettings({}, io), { ...io, version });
    expect({ asked: at.asked, ...printed }).toEqual({
      asked: [`GET /lkm/latest lkm/${version}`],
      stdout: '',
      stderr: said,
    });
  });

  it('takes a switch, for the registry of npm, or the address of another one', async () => {
    const registryFor = (LKM_UPDATE_CHECK: string) => {
      const { io } = fakeIo({ terminal: true, env: { LKM_UPDATE_CHECK } });
      return readSettings({}, io).updateRegistry;
    };
    expect(['', '0', '1', 'https://npm.example/'].map(registryFor)).toEqual([
      null,
      null,
      'https://registry.npmjs.org',
      'https://npm.example/',
    ]);
    const { code, stderr } = await lkm(['config', 'path'], { env: { LKM_UPDATE_CHECK: 'sometimes' } });
    expect({ code, stderr }).toEqual({ code: 2, stderr: says("error: LKM_UPDATE_CHECK: 'sometimes' is not one of") });
  });
});
