import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateDir } from '../../src/cli/config/files.ts';
import { openJournal } from '../../src/cli/request/journal.ts';
import { fakeIo, lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { issued, KEY, PRODUCT, refusal, remote, type Scripted, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT, '--max-retries', '0'];
const serverError = refusal(500, 1, 'Server error');
const first = '00000001-0000-4000-8000-000000000000';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A machine on which commands are run one after another, each in a process of its own. */
function machine(more: Surroundings = {}) {
  const cwd = tempFolder();
  const file = join(cwd, '.local/state/lkm/journal/journal.jsonl');
  let pid = 100;
  const at = async (argv: readonly string[], answer: Scripted, surroundings: Surroundings = {}) => {
    const { fetch, seen } = scriptedService(answer);
    const env = { ...remote, ...more.env, ...surroundings.env };
    const ran = await lkm(argv, { cwd, pid: pid++, fetch, ...more, ...surroundings, env });
    return { ...ran, keys: seen.map(({ idempotencyKey }) => idempotencyKey), seen };
  };
  return { cwd, file, at, pending: () => pendingIn(file) };
}

/** The changes in a journal that are not done. */
function pendingIn(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.endsWith('}') ? [JSON.parse(line)] : []));
  const isDone = (row: { run: string; row: number }) =>
    lines.some((line) => line.type === 'done' && line.run === row.run && line.row === row.row);
  return lines.filter((line) => line.type === 'row' && !isDone(line));
}

describe('a change that had no answer', () => {
  it('is written down, for its owner only, and without the token', async () => {
    const { at, file } = machine();
    await at([...create, '--customer', 'cus_1'], serverError);
    const text = readFileSync(file, 'utf8');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { version: 1, type: 'run', run: expect.any(String), host: 'here', pid: 100, startTime: '1000' },
      {
        version: 1,
        type: 'row',
        run: expect.any(String),
        row: 1,
        origin: 'https://licensing.example.com',
        method: 'POST',
        path: '/create-key',
        body: JSON.stringify({ productId: PRODUCT, customerId: 'cus_1' }),
        idempotencyKey: first,
        createdAt: '2026-11-21T12:00:00.000Z',
      },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    expect(text).not.toContain(remote.LKM_TOKEN);
  });

  it('is repeated by the next run of the same command, which says so', async () => {
    const { at, pending } = machine();
    const lost = await at(create, serverError, { now: NOW - 89 * 60_000 });
    const again = await at(create, issued);
    expect(lost.code).toBe(8);
    expect(again).toMatchObject({ code: 0, stdout: `${KEY}\n`, keys: lost.keys });
    expect(again.seen[0]?.body).toEqual(lost.seen[0]?.body);
    expect(again.stderr).toMatch(/^repeating the call of 10:31 UTC that had no answer\ncreated /);
    expect(pending()).toEqual([]);
    expect((await at(create, issued)).keys).not.toEqual(lost.keys);
  });

  it('is named with its day when that was yesterday', async () => {
    const { at } = machine();
    await at(create, serverError, { now: NOW - 13 * 3_600_000 });
    expect((await at(create, issued)).stderr).toContain('the call of 2026-11-20 23:00 UTC that');
  });

  it('is repeated until it has an answer that tells what became of it', async () => {
    const { at, pending } = machine();
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
      expect(pending()).toHaveLength(1);
    }
    expect((await at(create, refusal(404, 1, 'Product not found or inactive'))).keys).toEqual(lost.keys);
    expect(pending()).toEqual([]);
  });

  it('is kept when the command is interrupted, and repeated by the next one', async () => {
    const { at, pending } = machine();
    const controller = new AbortController();
    const keys: (string | null)[] = [];
    const fetch = async (request: Request): Promise<Response> => {
      keys.push(request.headers.get('idempotency-key'));
      controller.abort('SIGINT');
      request.signal.throwIfAborted();
      return new Response();
    };
    expect((await at(create, issued, { fetch, stop: controller.signal })).code).toBe(130);
    expect(pending()).toHaveLength(1);
    expect((await at(create, issued)).keys).toEqual(keys);
  });

  it('is kept while its answer has not reached whoever asked', async () => {
    const { at, pending } = machine();
    const unwritable = [...create, '-o', '/dev/full'];
    const answered = await at(unwritable, issued);
    expect(answered.code).toBe(13);
    expect(pending()).toHaveLength(1);
    expect((await at(create, issued)).keys).toEqual(answered.keys);
    expect(pending()).toEqual([]);
  });

  it.each([
    ['another body', ['keys', 'create', '-P', PRODUCT, '--trial', '--max-retries', '0'], {}],
    ['another service', create, { LKM_BASE_URL: 'https://other.example' }],
    ['another path', ['customers', 'create', '--name', 'Ada Ltd', '--max-retries', '0'], {}],
  ])('is not repeated by a request with %s', async (_, argv, env) => {
    const { at, pending } = machine();
    const lost = await at(create, serverError);
    const other = await at(argv, serverError, { env });
    expect(other.keys).not.toEqual(lost.keys);
    expect(other.stderr).not.toContain('repeating');
    expect(pending()).toHaveLength(2);
  });

  it('is left to its process while that runs', async () => {
    const { at, pending } = machine();
    const lost = await at(create, serverError, { pid: 7 });
    const meanwhile = await at(create, serverError, { pid: 8, running: [7] });
    expect(meanwhile.keys).not.toEqual(lost.keys);
    expect(meanwhile.stderr).not.toContain('repeating');
    const later = await at(create, issued, { pid: 9, running: [8] });
    expect(later.keys).toEqual(lost.keys);
    expect(pending()).toHaveLength(1);
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
    const { at, pending } = machine();
    const lost = await at(create, serverError, { host: 'there' });
    const elsewhere = await at(create, issued);
    expect(elsewhere.keys).not.toEqual(lost.keys);
    expect(elsewhere.stderr).toContain('warning: the same call was made on there at 12:00 UTC, and no answer is known');
    expect(elsewhere.stderr).toContain(`--idempotency-key ${lost.keys[0]}\n`);
    expect(pending()).toHaveLength(1);
  });

  it('is too old an hour before the service forgets it: a warning says how to see what it did', async () => {
    const { at, pending } = machine();
    const argv = ['customers', 'create', '--name', 'Ada Ltd', '--max-retries', '0'];
    const lost = await at(argv, serverError, { now: NOW - 23 * HOUR - 1 });
    const fresh = await at(argv, serverError, { env: { LKM_FORMAT: 'json' } });
    expect(fresh.keys).not.toEqual(lost.keys);
    expect(fresh.stderr).toContain(
      'warning: an earlier call of 2026-11-20 12:59 UTC never got an answer, and it is too',
    );
    expect(fresh.stderr).toContain('see whether the earlier one made its customer: lkm customers list\n');
    expect(pending()).toHaveLength(1);
  });

  it.each<[argv: string[], way: string]>([
    [['create'], 'see whether the earlier one made its key, the newest first: lkm keys list'],
    [['update', KEY, '--max-activations', '3'], 'see what the key is: lkm keys get KEY'],
    [['renew', KEY, '--for', '1y'], 'see when the key expires: lkm keys get KEY'],
    [['transfer', KEY, '--nobody'], 'see whose the key is: lkm keys get KEY'],
    [['activate', KEY, '--host-id', 'build-01'], 'see which devices hold a slot: lkm keys get KEY'],
    [['checkout', KEY], 'see whether the earlier one took a seat, and free it: lkm sessions list --key KEY'],
    [['block', KEY], "the service's log shows whether the earlier call was carried out"],
  ])('that is too old is followed up: lkm keys %j', async (argv, way) => {
    const { at } = machine();
    const words = ['keys', ...argv, '-P', PRODUCT, '--max-retries', '0'];
    await at(words, serverError, { now: NOW - 23 * HOUR - 1 });
    expect((await at(words, serverError)).stderr).toContain(`this is a new one; ${way}\n`);
  });

  it.each([-23 * HOUR, HOUR])('is repeated when it was made %i ms from now', async (offset) => {
    const { at } = machine();
    const lost = await at(create, serverError, { now: NOW + offset });
    expect((await at(create, issued)).keys).toEqual(lost.keys);
  });

  it('of a time to come is not repeated: the clock was set since, and nobody knows its age', async () => {
    const { at, pending } = machine();
    const lost = await at(create, serverError, { now: NOW + HOUR + 1 });
    const fresh = await at(create, serverError);
    expect(fresh.keys).not.toEqual(lost.keys);
    expect(fresh.stderr).toContain('never got an answer, and it is too late to repeat it');
    expect(pending()).toHaveLength(1);
  });

  it('is settled by whoever repeats it with its key, and by nobody else', async () => {
    const { at, pending } = machine();
    const lost = await at(create, serverError);
    expect((await at([...create, '--idempotency-key', 'order-1'], issued)).keys).toEqual(['order-1']);
    expect(pending()).toHaveLength(1);
    expect((await at([...create, '--idempotency-key', first], issued)).keys).toEqual(lost.keys);
    expect(pending()).toEqual([]);
  });

  it('under a key that was given is repeated by whoever gives it, and not by the next', async () => {
    const { at } = machine();
    await at([...create, '--idempotency-key', 'order-1'], serverError);
    expect((await at(create, issued)).keys).not.toEqual(['order-1']);
  });

  it('is one of several: the command that is run again gets the answers it had, and goes on', async () => {
    const { cwd, pending } = machine();
    const env = { LKM_DB: 'lkm.db' };
    const made = async (name: string) =>
      (await lkm(['customers', 'create', '--name', name, '-q', '--create'], { cwd, env })).stdout.trim();
    const ids = [await made('Ada Ltd'), await made('Bob')];
    const controller = new AbortController();
    const argv = ['customers', 'delete', ...ids, '-y'];
    const stderrOf = async (surroundings: Surroundings) => (await lkm(argv, { cwd, env, ...surroundings })).stderr;
    const { openInstance } = await import('../../src/server/runtime.ts');
    const { fetch, ownerToken, close } = await openInstance({ db: join(cwd, 'lkm.db') });
    const viaHttp = { LKM_BASE_URL: 'https://licensing.example.com', LKM_TOKEN: ownerToken };
    let calls = 0;
    const interrupting = async (request: Request) => {
      if (request.method === 'DELETE' && ++calls === 2) controller.abort('SIGTERM');
      request.signal.throwIfAborted();
      return fetch(request);
    };
    const interrupted = await stderrOf({ env: viaHttp, fetch: interrupting, stop: controller.signal });
    expect(interrupted).toContain(`deleted ${ids[0]}\n`);
    expect(interrupted).toContain(`    lkm customers delete ${ids.join(' ')} -y\n`);
    expect(pending()).toHaveLength(2);
    expect(await stderrOf({ env: viaHttp, fetch })).toContain(`deleted ${ids[0]}\n`);
    expect(pending()).toEqual([]);
    await close();
  });
});

describe('a change that was answered', () => {
  it.each([
    ['done', issued, 0],
    ['refused', refusal(404, 1, 'Product not found or inactive'), 6],
    ['never run', refusal(503, 1, 'Service unavailable'), 10],
  ] as const)('is forgotten: %s', async (_, answer, code) => {
    const { at, pending } = machine();
    expect((await at(create, answer)).code).toBe(code);
    expect(pending()).toEqual([]);
  });

  it('was not written down when it was only shown', async () => {
    const { at, file } = machine();
    await at([...create, '-n'], issued);
    expect(existsSync(dirname(file))).toBe(false);
  });
});

describe('the journal', () => {
  it.each([
    ['LKM_STATE_DIR', 'state/journal'],
    ['XDG_STATE_HOME', 'state/lkm/journal'],
  ])('is in the folder that %s names', async (name, folder) => {
    const { at, cwd } = machine();
    await at(create, serverError, { env: { [name]: join(cwd, 'state') } });
    expect(pendingIn(join(cwd, folder, 'journal.jsonl'))).toHaveLength(1);
  });

  it.each([
    [{ platform: 'linux', env: {} }, '/home/ada/.local/state/lkm'],
    [{ platform: 'linux', env: { XDG_STATE_HOME: 'state' } }, '/home/ada/.local/state/lkm'],
    [{ platform: 'win32', env: { LOCALAPPDATA: '/ada/Local' } }, '/ada/Local/lkm/State'],
    [{ platform: 'win32', env: { LOCALAPPDATA: '/ada/Local', LKM_STATE_DIR: '/state' } }, '/state'],
  ])('is where the system keeps such things: %j', (place, expected) => {
    expect(stateDir({ home: '/home/ada', ...place })).toBe(expected);
  });

  it('may hold lines that are broken or not ours: they are ignored', async () => {
    const { at, file } = machine();
    await at(create, serverError);
    const [run = '', row = ''] = readFileSync(file, 'utf8').split('\n');
    const sound = JSON.parse(row);
    const broken = [
      'null',
      '{"version":1',
      JSON.stringify({ ...sound, row: 2, version: 2 }),
      JSON.stringify({ ...sound, row: 3, origin: 'https://evil.example' }),
      JSON.stringify({ ...sound, row: 4, idempotencyKey: 'two words' }),
      JSON.stringify({ ...sound, row: 5, createdAt: 'yesterday' }),
      JSON.stringify({ ...sound, row: 6, run: 'unknown' }),
    ];
    writeFileSync(file, [run, ...broken, row, ''].join('\n'));
    expect(await at(create, issued)).toMatchObject({ code: 0, keys: [first] });
    expect(await at(create, issued)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('repeating') });
    expect(readFileSync(file, 'utf8')).toContain(broken[2]);
  });

  it('may end in half a line, of a process that was killed while it wrote', async () => {
    const { at, file, pending } = machine();
    const lost = await at(create, serverError);
    appendFileSync(file, readFileSync(file, 'utf8').slice(0, 150));
    const other = await at(['customers', 'create', '--name', 'Ada Ltd', '--max-retries', '0'], serverError);
    expect(pending()).toHaveLength(2);
    expect((await at(create, issued)).keys).toEqual(lost.keys);
    expect(pending()).toMatchObject([{ idempotencyKey: other.keys[0] }]);
  });

  it('is gone when nothing is left to repeat', async () => {
    const { at, file } = machine();
    await at(create, issued);
    expect(existsSync(file)).toBe(false);
  });

  const made = (name: string) => ['customers', 'create', '--name', name, '--max-retries', '0'];

  it('forgets what is a month older than the last', async () => {
    const { at, pending } = machine();
    await at(made('Ada Ltd'), serverError, { now: NOW - 31 * DAY });
    await at(made('Bob'), serverError);
    await at(made('Eve'), serverError);
    expect(pending()).toMatchObject([{ body: '{"name":"Bob"}' }, { body: '{"name":"Eve"}' }]);
  });

  it('forgets nothing when the clock is a year ahead for once', async () => {
    const { at } = machine();
    const lost = await at(create, serverError);
    await at(made('Ada Ltd'), issued, { now: NOW + 365 * DAY });
    expect((await at(create, issued)).keys).toEqual(lost.keys);
  });

  it('stays short, however many changes it has seen beside one that is open', async () => {
    const { at, file } = machine();
    await at(create, serverError, { running: [] });
    const made = ['customers', 'create', '--name', 'Ada Ltd', '--max-retries', '0'];
    const [run = '', row = ''] = readFileSync(file, 'utf8').split('\n');
    const done = Array.from({ length: 1_500 }, (_, at) =>
      JSON.stringify({ ...JSON.parse(row), row: at + 2, type: 'done' }),
    );
    writeFileSync(file, [run, row, ...done, ''].join('\n'));
    await at(made, serverError);
    expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(10);
    expect(pendingIn(file)).toHaveLength(2);
  });

  it('is no reason to fail when it cannot be made: a warning says what that means', async () => {
    const { at, cwd } = machine();
    writeFileSync(join(cwd, 'state'), '');
    const { code, stdout, stderr } = await at(create, issued, { env: { LKM_STATE_DIR: join(cwd, 'state') } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${KEY}\n` });
    expect(stderr).toMatch(
      /^warning: cannot write to \S+\/state\/journal \(E\w+\): a call that gets no response cannot be repeated/,
    );
  });

  it.each([
    ['a link to another file', (file: string) => symlinkSync(join(dirname(file), '../victim'), file), 'ELOOP'],
    ['a device', (file: string) => symlinkSync('/dev/zero', file), 'ELOOP'],
    ['a folder', (file: string) => mkdirSync(file), 'EISDIR'],
  ])('is neither read nor written where %s was put in its place', async (_, plant, code) => {
    const { at, file } = machine();
    await at(create, issued);
    const victim = join(dirname(file), '../victim');
    writeFileSync(victim, 'as it was');
    plant(file);
    const ran = await at(create, issued);
    expect(ran).toMatchObject({ code: 0, stdout: `${KEY}\n` });
    expect(ran.stderr).toContain(`(${code}): a call that gets no response`);
    expect(readFileSync(victim, 'utf8')).toBe('as it was');
  });

  it('is not kept in a folder that others can write to', async () => {
    const { at, file } = machine();
    await at(create, serverError);
    chmodSync(dirname(file), 0o777);
    const ran = await at(create, issued);
    expect(ran.keys).not.toEqual([first]);
    expect(ran.stderr).toContain('(EPERM)');
  });
});

describe('a group of changes', () => {
  const { io } = fakeIo({ cwd: tempFolder() });
  const request = { origin: 'https://x.example', method: 'POST', path: '/product', body: '{"name":"a"}' };
  const three = ['k1', 'k2', 'k3'].map((newKey) => ({ ...request, newKey }));
  const at = (pid: number) => openJournal({ ...io, pid });

  it('has a key for each, also where two are the same request', () => {
    const journal = at(1);
    const first = journal.begin(three, undefined).entries;
    const second = journal.begin(
      ['k4', 'k5'].map((newKey) => ({ ...request, newKey })),
      undefined,
    ).entries;
    const all = [...first, ...second];
    expect(all.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k1', 'k2', 'k3', 'k4', 'k5']);
    expect(all.filter(({ repeats }) => repeats)).toEqual([]);
    journal.complete(all);
  });

  it('is repeated row by row: those that are done are new, the others keep their keys', () => {
    const lost = at(1).begin(three, undefined).entries;
    at(2).complete(lost.slice(1, 2));
    const again = at(3).begin(
      ['n1', 'n2', 'n3'].map((newKey) => ({ ...request, newKey })),
      undefined,
    );
    expect(again.entries.map(({ idempotencyKey, repeats }) => [idempotencyKey, repeats])).toEqual([
      ['k1', true],
      ['k3', true],
      ['n3', false],
    ]);
    const later = at(4).begin(
      ['m1', 'm2', 'm3', 'm4'].map((newKey) => ({ ...request, newKey })),
      undefined,
    );
    expect(later.entries.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k1', 'k3', 'n3', 'm4']);
    at(5).complete(later.entries);
  });

  it('of ten thousand is found again row by row', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => ({ ...request, newKey: `key-${at}` }));
    const begun = at(1).begin(many, undefined);
    const again = at(2).begin(many, undefined);
    at(2).complete(again.entries);
    expect(again.entries.map(({ idempotencyKey }) => idempotencyKey)).toEqual(
      begun.entries.map(({ idempotencyKey }) => idempotencyKey),
    );
    expect(again.repeated).toHaveLength(10_000);
  });
});

describe('the lock of the journal', () => {
  const lockOf = (file: string): string => join(dirname(file), 'lock');

  it('is taken over from a process that ended while it held it', async () => {
    const { at, file } = machine();
    const lost = await at(create, serverError);
    renameSync(join(lockOf(file), 'free'), join(lockOf(file), 'here~99~990~run.1'));
    const again = await at(create, issued);
    expect(again.keys).toEqual(lost.keys);
    expect(readdirSync(lockOf(file))).toEqual(['free']);
  });

  it('is made again when its file is gone', async () => {
    const { at, file } = machine();
    const lost = await at(create, serverError);
    rmSync(join(lockOf(file), 'free'));
    expect((await at(create, issued)).keys).toEqual(lost.keys);
    expect(readdirSync(lockOf(file))).toEqual(['free']);
  });

  it('is waited for, and not taken, while its process runs', async () => {
    const { at, file } = machine();
    await at(create, serverError);
    const held = 'here~99~990~run.1';
    renameSync(join(lockOf(file), 'free'), join(lockOf(file), held));
    const again = await at(create, issued, { running: [99] });
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('(ELOCKED)') });
    expect(again.keys).not.toEqual([first]);
    expect(readdirSync(lockOf(file))).toEqual([held]);
  });

  it('of a machine that cannot be looked at is taken over once nothing has moved for seconds', async () => {
    const { at, file } = machine();
    const lost = await at(create, serverError);
    renameSync(join(lockOf(file), 'free'), join(lockOf(file), 'there~99~990~run.1'));
    expect((await at(create, issued)).keys).toEqual(lost.keys);
  });
});
