import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { stateDir } from '../../src/cli/config/files.ts';
import { beginChanges, completeChanges } from '../../src/cli/state/journal.ts';
import { openState, type State } from '../../src/cli/state/state.ts';
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
  const file = join(cwd, '.local/state/lkm/state.db');
  const at = async (argv: readonly string[], answer: Scripted, surroundings: Surroundings = {}) => {
    const { fetch, seen } = scriptedService(answer);
    const env = { ...remote, ...more.env, ...surroundings.env };
    const ran = await lkm(argv, { cwd, fetch, ...more, ...surroundings, env });
    return { ...ran, keys: seen.map(({ idempotencyKey }) => idempotencyKey), seen };
  };
  return { cwd, file, at, pending: () => pendingIn(file), running: (argv: readonly string[]) => running(argv, cwd) };
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

/** The changes that are written down. */
function pendingIn(file: string): Record<string, unknown>[] {
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare('select origin, method, path, body, idempotency_key, created_at from change order by id')
      .all();
  } finally {
    database.close();
  }
}

describe('a change that had no answer', () => {
  it('is written down, for its owner only, and without the token', async () => {
    const { at, file } = machine();
    await at([...create, '--customer', 'cus_1'], serverError);
    expect(pendingIn(file)).toEqual([
      {
        origin: 'https://licensing.example.com',
        method: 'POST',
        path: '/create-key',
        body: JSON.stringify({ productId: PRODUCT, customerId: 'cus_1' }),
        idempotency_key: first,
        created_at: '2026-11-21T12:00:00.000Z',
      },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, 'latin1')).not.toContain(remote.LKM_TOKEN);
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
    expect(pending()).toMatchObject([{ idempotency_key: first }]);
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

describe('the journal', () => {
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
    ['cannot be made', (file: string) => writeFileSync(dirname(file), ''), /cannot write to \S+state\.db \(E\w+\)/],
    ['is damaged', (file: string) => writeFileSync(file, 'rubbish '.repeat(600)), /state\.db is damaged/],
    ['is of a newer lkm', (file: string) => query(file, 'pragma user_version = 99'), /was written by a newer lkm/],
  ])('%s: nothing is sent, and the error says the way out', async (_, spoil, message) => {
    const { at, cwd } = machine();
    const env = { LKM_STATE_DIR: join(cwd, 'state') };
    const file = join(cwd, 'state/state.db');
    if (!message.source.startsWith('cannot')) mkdirSync(dirname(file), { mode: 0o700 });
    spoil(file);
    const refused = await at(create, issued, { env });
    expect(refused).toMatchObject({ code: 13, stdout: '', keys: [] });
    expect(refused.stderr).toMatch(message);
    expect(refused.stderr).toContain('Nothing was sent.');
    // A key that was given is not written down.
    expect((await at([...create, '--idempotency-key', 'order-1'], issued, { env })).code).toBe(0);
  });

  it.each([
    ['a link to another file', (file: string) => symlinkSync(join(dirname(file), '../victim'), file)],
    ['a device', (file: string) => symlinkSync('/dev/zero', file)],
    ['a folder', (file: string) => mkdirSync(file)],
  ])('is neither read nor written where %s was put in its place', async (_, plant) => {
    const { at, file } = machine();
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const victim = join(dirname(file), '../victim');
    writeFileSync(victim, 'as it was');
    plant(file);
    const ran = await at(create, issued);
    expect(ran).toMatchObject({ code: 13, stdout: '', keys: [] });
    expect(ran.stderr).toContain(`error: ${file} is not a file of this user alone\n`);
    expect(readFileSync(victim, 'utf8')).toBe('as it was');
  });

  it('is not kept in a folder that others can write to', async () => {
    const { at, file } = machine();
    await at(create, serverError);
    chmodSync(dirname(file), 0o777);
    const ran = await at(create, issued);
    expect(ran).toMatchObject({ code: 13, keys: [] });
    expect(ran.stderr).toContain('is not safe: others can put files into it\n');
  });
});

/** Runs a statement on a state, which it makes where there is none. */
function query(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

describe('a group of changes', () => {
  const { io } = fakeIo({ cwd: tempFolder() });
  const request = { origin: 'https://x.example', method: 'POST', path: '/product', body: '{"name":"a"}' };
  const begin = (state: State, keys: readonly string[]) => {
    const left = [...keys];
    const requests = keys.map(() => request);
    return beginChanges(state, requests, { ...io, uuid: () => left.shift() ?? '' }).entries;
  };
  /** A process that writes changes down, and ends once some of them are done. */
  const process = (keys: string[], done: (keys: string[]) => string[]) => {
    const state = openState(io);
    const entries = begin(state, keys);
    const isDone = done(entries.map(({ idempotencyKey }) => idempotencyKey));
    completeChanges(
      state,
      entries.filter(({ idempotencyKey }) => isDone.includes(idempotencyKey)),
    );
    state.close();
    return entries.map(({ idempotencyKey, repeats }) => (repeats ? `${idempotencyKey} again` : idempotencyKey));
  };

  it('has a key for each, also where two are the same request, in one group or in two', () => {
    const state = openState(io);
    const begun = [
      ['k1', 'k2', 'k3'],
      ['k4', 'k5'],
    ].flatMap((keys) => begin(state, keys));
    expect(begun.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['k1', 'k2', 'k3', 'k4', 'k5']);
    expect(begun.filter(({ repeats }) => repeats)).toEqual([]);
    completeChanges(state, begun);
    state.close();
  });

  it('is repeated row by row: those that are done are new, the others keep their keys', () => {
    expect(process(['k1', 'k2', 'k3'], () => ['k2'])).toEqual(['k1', 'k2', 'k3']);
    expect(process(['n1', 'n2', 'n3'], () => [])).toEqual(['k1 again', 'k3 again', 'n3']);
    expect(process(['m1', 'm2', 'm3', 'm4'], (all) => all)).toEqual(['k1 again', 'k3 again', 'n3 again', 'm4']);
  });

  it('leaves no lock behind, and removes those of processes that were killed', () => {
    const locks = join(stateDir(io), 'locks');
    writeFileSync(join(locks, 'of-a-killed-process'), '', { mode: 0o600 });
    process(['k1'], (all) => all);
    expect(readdirSync(locks)).toEqual([]);
  });
});
