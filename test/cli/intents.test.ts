import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateDir } from '../../src/cli/config/paths.ts';
import { lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { issued, KEY, PRODUCT, refusal, remote, type Scripted, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT, '--max-retries', '0'];
const serverError = refusal(500, 1, 'Server error');
const first = '00000001-0000-4000-8000-000000000000';
const DAY = 24 * 3_600_000;

/** A machine on which commands are run one after another, each in a process of its own. */
function machine(more: Surroundings = {}) {
  const cwd = tempFolder();
  const folder = join(cwd, '.local/state/lkm/intents');
  let pid = 100;
  const at = async (argv: readonly string[], answer: Scripted, surroundings: Surroundings = {}) => {
    const { fetch, seen } = scriptedService(answer);
    const env = { ...remote, ...more.env, ...surroundings.env };
    const ran = await lkm(argv, { cwd, pid: pid++, fetch, ...more, ...surroundings, env });
    return { ...ran, keys: seen.map(({ idempotencyKey }) => idempotencyKey), seen };
  };
  const files = (): string[] => readdirSync(folder);
  return { cwd, folder, at, files };
}

describe('a change that had no answer', () => {
  it('is written down, for its owner only, and without the token', async () => {
    const { at, folder, files } = machine();
    await at([...create, '--customer', 'cus_1'], serverError);
    const [name = ''] = files();
    const text = readFileSync(join(folder, name), 'utf8');
    expect(JSON.parse(text)).toEqual({
      version: 1,
      origin: 'https://licensing.example.com',
      method: 'POST',
      path: '/create-key',
      body: JSON.stringify({ productId: PRODUCT, customerId: 'cus_1' }),
      idempotencyKey: first,
      host: 'here',
      pid: 100,
      createdAt: '2026-11-21T12:00:00.000Z',
    });
    expect(files()).toHaveLength(1);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(text).not.toContain(remote.LKM_TOKEN);
  });

  it('is repeated by the next run of the same command, which says so', async () => {
    const { at, files } = machine();
    const lost = await at(create, serverError, { now: NOW - 89 * 60_000 });
    const again = await at(create, issued);
    expect(lost.code).toBe(8);
    expect(again).toMatchObject({ code: 0, stdout: `${KEY}\n`, keys: lost.keys });
    expect(again.seen[0]?.body).toEqual(lost.seen[0]?.body);
    expect(again.stderr).toMatch(/^repeating the call of 10:31 UTC that had no answer\ncreated /);
    expect(files()).toEqual([]);
    expect((await at(create, issued)).keys).not.toEqual(lost.keys);
  });

  it('is named with its day when that was yesterday', async () => {
    const { at } = machine();
    await at(create, serverError, { now: NOW - 13 * 3_600_000 });
    expect((await at(create, issued)).stderr).toContain('the call of 2026-11-20 23:00 UTC that');
  });

  it('is repeated until it has an answer that tells what became of it', async () => {
    const { at, files } = machine();
    const lost = await at(create, serverError);
    const refusedConnection = new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }),
    });
    const silences = [
      refusedConnection,
      refusal(401, 1, 'Invalid access token'),
      refusal(429, 3, 'Rate limit exceeded'),
      refusal(503, 1, 'Service unavailable'),
      serverError,
    ];
    for (const silence of silences) {
      expect((await at(create, silence)).keys).toEqual(lost.keys);
      expect(files()).toHaveLength(1);
    }
    expect((await at(create, refusal(404, 1, 'Product not found or inactive'))).keys).toEqual(lost.keys);
    expect(files()).toEqual([]);
  });

  it('is kept when the command is interrupted, and repeated by the next one', async () => {
    const { at, files } = machine();
    const controller = new AbortController();
    const keys: (string | null)[] = [];
    const fetch = async (request: Request): Promise<Response> => {
      keys.push(request.headers.get('idempotency-key'));
      controller.abort('SIGINT');
      request.signal.throwIfAborted();
      return new Response();
    };
    expect((await at(create, issued, { fetch, stop: controller.signal })).code).toBe(130);
    expect(files()).toHaveLength(1);
    expect((await at(create, issued)).keys).toEqual(keys);
  });

  it('is kept while its answer has not reached whoever asked', async () => {
    const { at, files } = machine();
    const unwritable = [...create, '-o', '/dev/full'];
    const answered = await at(unwritable, issued);
    expect(answered.code).toBe(13);
    expect(files()).toHaveLength(1);
    expect((await at(create, issued)).keys).toEqual(answered.keys);
    expect(files()).toEqual([]);
  });

  it.each([
    ['another body', ['keys', 'create', '-P', PRODUCT, '--trial', '--max-retries', '0'], {}],
    ['another service', create, { LKM_BASE_URL: 'https://other.example' }],
    ['another path', ['customers', 'create', '--name', 'Ada Ltd', '--max-retries', '0'], {}],
  ])('is not repeated by a request with %s', async (_, argv, env) => {
    const { at, files } = machine();
    const lost = await at(create, serverError);
    const other = await at(argv, serverError, { env });
    expect(other.keys).not.toEqual(lost.keys);
    expect(other.stderr).not.toContain('repeating');
    expect(files()).toHaveLength(2);
  });

  it('is left to its process while that runs', async () => {
    const { at, files } = machine();
    const lost = await at(create, serverError, { pid: 7 });
    const meanwhile = await at(create, serverError, { pid: 8, running: [7] });
    expect(meanwhile.keys).not.toEqual(lost.keys);
    expect(meanwhile.stderr).not.toContain('repeating');
    const later = await at(create, issued, { pid: 9, running: [8] });
    expect(later.keys).toEqual(lost.keys);
    expect(files()).toHaveLength(1);
  });

  it('belonged to an earlier process when it has the pid of this one', async () => {
    const { at } = machine();
    const lost = await at(create, serverError, { pid: 1 });
    expect((await at(create, issued, { pid: 1 })).keys).toEqual(lost.keys);
  });

  it('goes to one of the commands that repeat it at once', async () => {
    const { at } = machine();
    const lost = await at(create, serverError);
    const pids = [11, 12, 13, 14, 15];
    const runs = await Promise.all(pids.map((pid) => at(create, serverError, { pid, running: pids })));
    const keys = runs.flatMap((run) => run.keys);
    expect(keys.filter((key) => key === lost.keys[0])).toHaveLength(1);
    expect(new Set(keys).size).toBe(pids.length);
  });

  it('is taken in turn where there are several, the oldest first', async () => {
    const { at } = machine();
    const older = await at(create, serverError, { pid: 7, now: NOW - 60_000 });
    const newer = await at(create, serverError, { pid: 8, running: [7] });
    expect((await at(create, issued)).keys).toEqual(older.keys);
    expect((await at(create, issued)).keys).toEqual(newer.keys);
  });

  it('is not repeated from another machine, which says how', async () => {
    const { at, files } = machine();
    const lost = await at(create, serverError, { host: 'there' });
    const elsewhere = await at(create, issued);
    expect(elsewhere.keys).not.toEqual(lost.keys);
    expect(elsewhere.stderr).toContain('warning: the same call was made on there at 12:00 UTC, and no answer is known');
    expect(elsewhere.stderr).toContain(`--idempotency-key ${lost.keys[0]}\n`);
    expect(files()).toHaveLength(1);
  });

  it('is too old after a day: it is forgotten, and a warning says how to see what it did', async () => {
    const { at, files } = machine();
    const argv = ['customers', 'create', '--name', 'Ada Ltd', '--max-retries', '0'];
    const lost = await at(argv, serverError, { now: NOW - DAY - 1 });
    const fresh = await at(argv, serverError, { env: { LKM_FORMAT: 'json' } });
    expect(fresh.keys).not.toEqual(lost.keys);
    expect(fresh.stderr).toContain('warning: an earlier call of 2026-11-20 11:59 UTC never got an answer and is too');
    expect(fresh.stderr).toContain('see whether the earlier one made its customer: lkm customers list\n');
    expect(files()).toHaveLength(1);
  });

  it('is repeated up to a day', async () => {
    const { at } = machine();
    const lost = await at(create, serverError, { now: NOW - DAY });
    expect((await at(create, issued)).keys).toEqual(lost.keys);
  });

  it('is settled by whoever repeats it with its key, and by nobody else', async () => {
    const { at, files } = machine();
    const lost = await at(create, serverError);
    expect((await at([...create, '--idempotency-key', 'order-1'], issued)).keys).toEqual(['order-1']);
    expect(files()).toHaveLength(1);
    expect((await at([...create, '--idempotency-key', first], issued)).keys).toEqual(lost.keys);
    expect(files()).toEqual([]);
  });

  it('under a key that was given is repeated by whoever gives it, and not by the next', async () => {
    const { at } = machine();
    await at([...create, '--idempotency-key', 'order-1'], serverError);
    expect((await at(create, issued)).keys).not.toEqual(['order-1']);
  });

  it('is one of several: the command that is run again gets the answers it had, and goes on', async () => {
    const { cwd, files } = machine();
    const env = { LKM_DB: 'lkm.db' };
    const made = async (name: string) =>
      (await lkm(['customers', 'create', '--name', name, '-q'], { cwd, env })).stdout.trim();
    const ids = [await made('Ada Ltd'), await made('Bob')];
    const controller = new AbortController();
    const argv = ['customers', 'delete', ...ids, '-y'];
    const stderrOf = async (surroundings: Surroundings) => (await lkm(argv, { cwd, env, ...surroundings })).stderr;
    const { openInstance } = await import('../../src/server/runtime.ts');
    const { fetch, ownerToken, close } = await openInstance({ db: join(cwd, 'lkm.db') });
    const viaHttp = { LKM_BASE_URL: 'https://licensing.example.com', LKM_TOKEN: ownerToken };
    let calls = 0;
    const interrupting = async (request: Request) => {
      if (++calls === 2) controller.abort('SIGTERM');
      request.signal.throwIfAborted();
      return fetch(request);
    };
    const interrupted = await stderrOf({ env: viaHttp, fetch: interrupting, stop: controller.signal });
    expect(interrupted).toContain(`deleted ${ids[0]}\n`);
    expect(interrupted).toContain(`    lkm customers delete ${ids.join(' ')} -y\n`);
    expect(files()).toHaveLength(2);
    expect(await stderrOf({ env: viaHttp, fetch })).toContain(`deleted ${ids[0]}\n`);
    expect(files()).toEqual([]);
    await close();
  });
});

describe('a change that was answered', () => {
  it.each([
    ['done', issued, 0],
    ['refused', refusal(404, 1, 'Product not found or inactive'), 6],
    ['never run', refusal(503, 1, 'Service unavailable'), 10],
  ] as const)('is forgotten: %s', async (_, answer, code) => {
    const { at, files } = machine();
    expect((await at(create, answer)).code).toBe(code);
    expect(files()).toEqual([]);
  });

  it('was not written down when it was only shown', async () => {
    const { at, files } = machine();
    await at([...create, '-n'], issued);
    expect(files).toThrow('ENOENT');
  });
});

describe('the folder of the intents', () => {
  it.each([
    ['LKM_STATE_DIR', 'state/intents'],
    ['XDG_STATE_HOME', 'state/lkm/intents'],
  ])('is named by %s', async (name, folder) => {
    const { at, cwd } = machine();
    await at(create, serverError, { env: { [name]: join(cwd, 'state') } });
    expect(readdirSync(join(cwd, folder))).toHaveLength(1);
  });

  it.each([
    [{ platform: 'linux', env: {} }, '/home/ada/.local/state/lkm'],
    [{ platform: 'win32', env: { LOCALAPPDATA: '/ada/Local' } }, '/ada/Local/lkm/State'],
    [{ platform: 'win32', env: { LOCALAPPDATA: '/ada/Local', LKM_STATE_DIR: '/state' } }, '/state'],
  ])('is where the system keeps such things: %j', (place, expected) => {
    expect(stateDir({ home: '/home/ada', ...place })).toBe(expected);
  });

  it('may hold what is broken, unfinished or not ours: it is passed over and left alone', async () => {
    const { at, folder, files } = machine();
    await at(create, serverError);
    const [name = ''] = files();
    const sound = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const broken = [
      '',
      'null',
      '{"version":1',
      JSON.stringify({ ...sound, version: 2 }),
      JSON.stringify({ ...sound, origin: 'https://evil.example' }),
      JSON.stringify({ ...sound, idempotencyKey: 'two words' }),
      JSON.stringify({ ...sound, createdAt: 'yesterday' }),
    ];
    for (const [index, text] of broken.entries()) {
      writeFileSync(join(folder, name.replace(/[^.]+\.json$/, `0${index}.json`)), text);
    }
    writeFileSync(join(folder, `${name}.tmp`), 'half');
    mkdirSync(join(folder, 'a folder'));
    const again = await at(create, issued);
    expect(again).toMatchObject({ code: 0, keys: [first] });
    expect(files()).toHaveLength(broken.length + 2);
    expect(await at(create, issued)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('repeating') });
  });

  it('is no reason to fail when it cannot be made: a warning says what that means', async () => {
    const { at, cwd } = machine();
    writeFileSync(join(cwd, 'state'), '');
    const { code, stdout, stderr } = await at(create, issued, { env: { LKM_STATE_DIR: join(cwd, 'state') } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${KEY}\n` });
    expect(stderr).toMatch(/^warning: cannot write to \S+\/state\/intents \(E\w+\): a call that gets no answer is not/);
  });
});
