import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateDir } from '../../src/cli/config/files.ts';
import { openPending } from '../../src/cli/state/pending.ts';
import { fakeIo, lkm, NOW, type Surroundings, tempFolder } from './fake-io.ts';
import { brokenBy, issued, KEY, PRODUCT, refusal, remote, type Scripted, scriptedService } from './scripted-service.ts';

const create = ['keys', 'create', '-P', PRODUCT, '--max-retries', '0'];
const serverError = refusal(500, 1, 'Server error');
const first = '00000001-0000-4000-8000-000000000000';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A machine on which commands are run one after another, each in a process of its own. */
function machine(more: Surroundings = {}) {
  const cwd = tempFolder();
  const folder = join(cwd, '.local/state/lkm/pending');
  const at = async (argv: readonly string[], answer: Scripted, surroundings: Surroundings = {}) => {
    const { fetch, seen } = scriptedService(answer);
    const env = { ...remote, ...more.env, ...surroundings.env };
    const ran = await lkm(argv, { cwd, fetch, ...more, ...surroundings, env });
    return { ...ran, keys: seen.map(({ idempotencyKey }) => idempotencyKey), seen };
  };
  return {
    cwd,
    folder,
    at,
    pending: () => pendingIn(folder),
    running: (argv: readonly string[]) => running(argv, cwd),
  };
}

/** A command that has sent its request, and gets its answer when it is told to end. */
async function running(argv: readonly string[], cwd: string) {
  const sent = Promise.withResolvers<string | null>();
  const answered = Promise.withResolvers<Response>();
  const fetch = (request: Request) => {
    sent.resolve(request.headers.get('idempotency-key'));
    return answered.promise;
  };
  const ended = lkm(argv, { cwd, fetch, env: remote });
  return {
    key: await sent.promise,
    end: async () => {
      answered.resolve(Response.json({ message: 'Server error', code: 1 }, { status: 500 }));
      await ended;
    },
  };
}

/** The names of the files of changes. */
const filesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];

/** The changes that are written down, the oldest first. */
const pendingIn = (folder: string): Record<string, unknown>[] =>
  filesIn(folder)
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).value)
    .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));

describe('a change that had no answer', () => {
  it('is written down in a file of its own, for its owner only, and without the token', async () => {
    const { at, folder, pending } = machine();
    await at([...create, '--customer', 'cus_1'], serverError);
    expect(pending()).toEqual([
      {
        origin: 'https://licensing.example.com',
        method: 'POST',
        path: '/create-key',
        body: JSON.stringify({ productId: PRODUCT, customerId: 'cus_1' }),
        idempotencyKey: first,
        createdAt: '2026-11-21T12:00:00.000Z',
      },
    ]);
    const [name = ''] = filesIn(folder);
    expect(name).toMatch(/^[\da-f]{32}\.json$/);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, name), 'latin1')).not.toContain(remote.LKM_TOKEN);
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

  it('is repeated until it has an answer that tells what became of it', async () => {
    const { at, pending } = machine();
    const lost = await at(create, serverError);
    const silences = [
      brokenBy('ECONNREFUSED', 'connect'),
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
    const fetch = async (request: Request): Promise<Response> => {
      controller.abort('SIGINT');
      request.signal.throwIfAborted();
      return new Response();
    };
    expect((await at(create, issued, { fetch, stop: controller.signal })).code).toBe(130);
    expect(pending()).toMatchObject([{ idempotencyKey: first }]);
    expect((await at(create, issued)).keys).toEqual([first]);
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

  it('is left to its process while that runs, and repeated once that has ended in any way, the oldest first', async () => {
    const { at, running, pending } = machine();
    const holds = await running(create);
    const meanwhile = await at(create, serverError);
    expect(meanwhile.keys).not.toEqual([holds.key]);
    expect(meanwhile.stderr).not.toContain('repeating');
    await holds.end();
    expect((await at(create, issued)).keys).toEqual([holds.key]);
    expect((await at(create, issued)).keys).toEqual(meanwhile.keys);
    expect(pending()).toEqual([]);
  });

  it('goes to one of the commands that repeat it at once', async () => {
    const { at, running } = machine();
    const lost = await at(create, serverError);
    const runs = await Promise.all([1, 2, 3, 4, 5].map(() => running(create)));
    const keys = runs.map(({ key }) => key);
    expect(keys.filter((key) => key === lost.keys[0])).toHaveLength(1);
    expect(new Set(keys).size).toBe(5);
    await Promise.all(runs.map(({ end }) => end()));
  });

  it('is too old an hour before the service forgets it: a warning says how to see what it did', async () => {
    const { at, pending } = machine();
    const lost = await at(create, serverError, { now: NOW - 23 * HOUR - 1 });
    const fresh = await at(create, serverError, { env: { LKM_FORMAT: 'json' } });
    expect(fresh.keys).not.toEqual(lost.keys);
    expect(fresh.stderr).toContain(
      'warning: an earlier POST /create-key of 2026-11-20 12:59 UTC never got an answer, and it is too late to repeat it\n',
    );
    expect(fresh.stderr).toContain('this is a new one; see what the earlier one has done: lkm ');
    expect(pending()).toHaveLength(1);
  });

  it.each([
    [-23 * HOUR, true],
    [HOUR, true],
    // The clock was set since, and nobody knows its age.
    [HOUR + 1, false],
  ])('made %i ms from now is repeated: %s', async (offset, isRepeated) => {
    const { at } = machine();
    const lost = await at(create, serverError, { now: NOW + offset });
    const next = await at(create, issued);
    expect(next.keys[0] === lost.keys[0]).toBe(isRepeated);
    expect(next.stderr.includes('never got an answer, and it is too late to repeat it')).toBe(!isRepeated);
  });

  it('is settled by whoever repeats it with its key, and by nobody else', async () => {
    const { at, pending } = machine();
    const lost = await at(create, serverError);
    expect((await at([...create, '--idempotency-key', 'order-1'], issued)).keys).toEqual(['order-1']);
    expect(pending()).toHaveLength(1);
    expect((await at([...create, '--idempotency-key', first], issued)).keys).toEqual(lost.keys);
    expect(pending()).toEqual([]);
  });

  it('under a key that was given is not repeated by the next', async () => {
    const { at } = machine();
    await at([...create, '--idempotency-key', 'order-1'], serverError);
    expect((await at(create, issued)).keys).not.toEqual(['order-1']);
  });
});

it.each([
  ['done', create, issued, 0],
  ['refused', create, refusal(404, 1, 'Product not found or inactive'), 6],
  ['never run', create, refusal(503, 1, 'Service unavailable'), 10],
  ['only shown', [...create, '-n'], issued, 0],
] as const)('a change is not written down any more when it was %s', async (_, argv, answer, code) => {
  const { at, pending } = machine();
  expect((await at(argv, answer)).code).toBe(code);
  expect(pending()).toEqual([]);
});

describe('the folder of changes without an answer', () => {
  it.each([
    [{ platform: 'linux', env: {} }, '/home/ada/.local/state/lkm'],
    [{ platform: 'linux', env: { XDG_STATE_HOME: 'state' } }, '/home/ada/.local/state/lkm'],
    [{ platform: 'win32', env: { LOCALAPPDATA: '/ada/Local' } }, '/ada/Local/lkm/State'],
    [{ platform: 'win32', env: { LOCALAPPDATA: '/ada/Local', LKM_STATE_DIR: '/state' } }, '/state'],
  ])('is where the system keeps such things: %j', (place, expected) => {
    expect(stateDir({ home: '/home/ada', ...place })).toBe(expected);
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

  it.each([
    ['cannot be made', /cannot write to \S+pending \(E\w+\)/],
    ['has a damaged file', /pending\/\w+\.json is damaged/],
  ])('%s: nothing is sent, and the error says the way out', async (_, message) => {
    const { at, cwd } = machine();
    const env = { LKM_STATE_DIR: join(cwd, 'state') };
    const folder = join(cwd, 'state/pending');
    if (message.source.startsWith('cannot')) writeFileSync(dirname(folder), '');
    else {
      await at(create, serverError, { env });
      for (const name of filesIn(folder)) writeFileSync(join(folder, name), 'rubbish');
    }
    const refused = await at(create, issued, { env });
    expect(refused).toMatchObject({ code: 13, stdout: '', keys: [] });
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).toContain('Nothing was sent.');
    // A key that was given is not written down.
    expect((await at([...create, '--idempotency-key', 'order-1'], issued, { env })).code).toBe(0);
  });

  it.each([
    ['a link to another file', (file: string, victim: string) => symlinkSync(victim, file)],
    ['a device', (file: string) => symlinkSync('/dev/zero', file)],
    ['a folder', (file: string) => mkdirSync(file)],
  ])('is neither read nor written where %s was put in the place of a file', async (_, plant) => {
    const { at, folder } = machine();
    await at(create, serverError);
    const [name = ''] = filesIn(folder);
    const victim = join(folder, '../victim');
    writeFileSync(victim, 'as it was');
    rmSync(join(folder, name));
    plant(join(folder, name), victim);
    const ran = await at(create, issued);
    expect(ran).toMatchObject({ code: 13, stdout: '', keys: [] });
    expect(ran.stderr).toContain(`error: ${join(folder, name)} is not a file of this user alone\n`);
    expect(readFileSync(victim, 'utf8')).toBe('as it was');
  });

  it('is not kept in a folder that others can write to', async () => {
    const { at, folder } = machine();
    await at(create, serverError);
    chmodSync(dirname(folder), 0o777);
    const ran = await at(create, issued);
    expect(ran).toMatchObject({ code: 13, keys: [] });
    expect(ran.stderr).toContain('is not safe: others can put files into it\n');
  });
});

describe('a group of changes', () => {
  const cwd = tempFolder();
  const request = { origin: 'https://x.example', method: 'POST', path: '/product', body: '{"name":"a"}' };
  const open = () => openPending({ ...fakeIo({ cwd }).io, uuid: randomUUID });
  /** A process that writes so many changes down, and ends once some of them are done. Returns their keys, and who repeats. */
  function process(count: number, done: readonly number[]) {
    const pending = open();
    const { entries } = pending.begin(Array.from({ length: count }, () => request));
    pending.complete(entries.filter((_, at) => done.includes(at)));
    pending.close();
    return {
      keys: entries.map(({ idempotencyKey }) => idempotencyKey),
      repeats: entries.map(({ repeats }) => repeats),
    };
  }

  it('has a key for each, also where two are the same request, in one group or in two', () => {
    const pending = open();
    const begun = [3, 2].flatMap((count) => pending.begin(Array.from({ length: count }, () => request)).entries);
    expect(new Set(begun.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5);
    expect(begun.some(({ repeats }) => repeats)).toBe(false);
    pending.complete(begun);
    pending.close();
  });

  it('is repeated row by row: those that are done are new, the others keep their keys', () => {
    const { keys: first } = process(3, [1]);
    const second = process(3, []);
    expect(second.repeats).toEqual([true, true, false]);
    expect(second.keys.slice(0, 2).toSorted()).toEqual([first[0], first[2]].toSorted());
    const third = process(4, [0, 1, 2, 3]);
    expect(third.repeats).toEqual([true, true, true, false]);
    expect(third.keys.slice(0, 3).toSorted()).toEqual(second.keys.toSorted());
    expect(process(1, [0]).repeats).toEqual([false]);
  });

  it('leaves no lock behind, and removes what processes left that were killed', () => {
    const folder = join(cwd, '.local/state/lkm/pending');
    for (const name of ['of-a-killed-process.lock', 'change.json.of-a-killed-process.tmp']) {
      writeFileSync(join(folder, name), '', { mode: 0o600 });
    }
    process(1, [0]);
    expect(readdirSync(folder)).toEqual(['lock']);
  });
});
