import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings, says, tempFolder } from './fake-io.ts';
import { refusal, remote, type Scripted } from './scripted-service.ts';
import { openShop } from './shop.ts';

describe('products', () => {
  it('are created, shown, renamed, stopped and listed', async () => {
    const { at, answer, product } = await openShop();
    expect(await answer(`products get ${product} --fields id,name,active`)).toBe(`${product}\tEngine\ttrue`);
    expect((await at(`products update ${product} --name Motor --inactive`)).stderr).toBe(`updated ${product}\n`);
    expect(await answer('product ls --fields name,active')).toBe('Motor\tfalse');
    expect((await at('keys create')).code).toBe(6);
    await answer(`products update ${product} --active`);
    expect((await at('keys create')).code).toBe(0);
  });

  it('have versions, which are added, listed and made inactive', async () => {
    const { at, answer, product } = await openShop();
    const id = await answer(`products add-version ${product} 2.1 --description Autumn`);
    expect(id).toMatch(/^ver_/);
    expect((await at(`products add-version ${product} 2.1`)).code).toBe(7);
    expect((await at(`products update-version ${id} --inactive`)).stderr).toBe(`updated ${id}\n`);
    const versions = await answer(`products versions ${product} --fields id,version,description,active`);
    expect(versions).toBe(`${id}\t2.1\tAutumn\tfalse`);
    expect(await at(`products update-version ${id}`)).toMatchObject({ code: 2, stderr: says('--active is missing') });
  });
});

describe('customers', () => {
  it('are created, updated, and not when somebody else has done so', async () => {
    const { at, answer, json } = await openShop();
    const id = await answer('customers create --name Ada --email it@ada.example -q');
    const updated = await at(`customers update ${id} --name Eve --clear-email --inactive`);
    expect(updated).toMatchObject({ code: 0, stderr: `updated ${id}\n` });
    expect(await answer(`customers get ${id} --fields name,email,active`)).toBe('Eve\t\tfalse');
    const stale = await at(`customers update ${id} --active --if-updated-at 2026-01-01T00:00:00Z`);
    expect(stale).toMatchObject({ code: 7, stdout: '' });
    await answer(`customers update ${id} --name Eve --active`);
    const event = (await json('events list')).at(-1);
    expect(event).toMatchObject({ type: 'customer.updated', data: { changed: ['active'], active: true } });
  });
});

describe('deleting several customers', () => {
  const deleted: Scripted = [200, { action: 'customers.delete', status: true, code: 0 }];
  const gone = refusal(404, 2, 'Customer not found');

  /** Deletes customers of a service with scripted answers; what each was asked with. */
  async function remove(
    ids: readonly string[],
    answers: Readonly<Record<string, Scripted>> = {},
    { more = [], ...surroundings }: Surroundings & { more?: readonly string[] } = {},
  ) {
    const seen: string[] = [];
    const keys: Record<string, string | null> = {};
    const fetch = async (request: Request): Promise<Response> => {
      const id = new URL(request.url).searchParams.get('customerId') ?? '';
      seen.push(`${request.method} ${id}`);
      keys[id] = request.headers.get('idempotency-key');
      const answer = answers[id] ?? deleted;
      if (answer instanceof Error) throw answer;
      return Response.json(answer[1], { status: answer[0] });
    };
    const argv = ['customers', 'delete', ...ids, '-y', '--max-retries', '0', ...more];
    return { ...(await lkm(argv, { ...surroundings, fetch, env: remote })), seen, keys };
  }

  it('tells each, goes on after one that is refused, and ends with 12', async () => {
    const { code, stderr, seen, keys } = await remove(['a', 'b', 'c'], { b: gone });
    expect({ code, stderr }).toEqual({
      code: 12,
      stderr:
        'deleted a\nwarning: not deleted b: Customer not found\ndeleted c\nwarning: deleted 2 of 3 customers; not b\n',
    });
    expect(seen).toEqual(['DELETE a', 'DELETE b', 'DELETE c']);
    expect(new Set(Object.values(keys)).size).toBe(3);
  });

  it('has a row for each in JSON, with all fields or those that are chosen', async () => {
    const { stdout, keys } = await remove(['a', 'b'], { a: gone }, { more: ['--json'] });
    expect(JSON.parse(stdout)).toEqual([
      { id: 'a', deleted: false, error: 'Customer not found', idempotencyKey: keys.a },
      { id: 'b', deleted: true, error: null, idempotencyKey: keys.b },
    ]);
    const chosen = await remove(['a', 'b'], { a: gone }, { more: ['--json', '--fields', 'id,deleted'] });
    expect(JSON.parse(chosen.stdout)).toEqual([
      { id: 'a', deleted: false },
      { id: 'b', deleted: true },
    ]);
  });

  it.each<[error: Scripted, code: number]>([
    [refusal(500, 1, 'Server error'), 8],
    [refusal(429, 3, 'Rate limit exceeded'), 9],
  ])('stops at %j, and goes on there when it is run again', async (error, code) => {
    const cwd = tempFolder();
    const stopped = await remove(['a', 'b', 'c'], { b: error }, { cwd, pid: 7 });
    expect(stopped.code).toBe(code);
    expect(stopped.stderr).toContain('deleted a\nwarning: deleted 1 of 3 customers; stopped at b\nerror: ');
    const again = await remove(['a', 'b', 'c'], {}, { cwd, pid: 8 });
    expect(again).toMatchObject({
      code: 0,
      stderr: 'repeating 3 calls that had no answer, the first of 12:00 UTC\ndeleted a\ndeleted b\ndeleted c\n',
    });
    expect(again.keys).toMatchObject(stopped.keys);
  });

  it('shows every request with --dry-run, and refuses an id that is given twice', async () => {
    const { code, stdout, seen } = await remove(['a', 'b'], {}, { more: ['-n', '--json'] });
    expect({ code, seen }).toEqual({ code: 0, seen: [] });
    const { requests } = JSON.parse(stdout);
    expect(requests.map(({ url }: { url: string }) => url)).toEqual(
      ['a', 'b'].map((id) => `https://licensing.example.com/customer/by-id?customerId=${id}`),
    );
    expect(requests[0].headers['idempotency-key']).not.toBe(requests[1].headers['idempotency-key']);
    expect(await remove(['a', 'b', 'a'])).toMatchObject({ code: 2, seen: [], stderr: says('is given twice') });
  });
});
