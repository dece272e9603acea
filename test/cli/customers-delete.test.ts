import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings, tempFolder } from './fake-io.ts';
import { customer, listed, refusal, remote, type Scripted } from './scripted-service.ts';

const deleted: Scripted = [200, { action: 'customers.delete', status: true, code: 0 }];
const gone = refusal(404, 2, 'Customer not found');

/** A service with these customers, and a script of answers to the deletion of each. */
function serviceOf(ids: readonly string[], answers: Readonly<Record<string, Scripted>> = {}) {
  const seen: string[] = [];
  const keys: Record<string, string | null> = {};
  const fetch = async (request: Request): Promise<Response> => {
    const id = new URL(request.url).searchParams.get('customerId');
    seen.push(id === null ? request.method : `${request.method} ${id}`);
    if (id !== null) keys[id] = request.headers.get('idempotency-key');
    const answer = id === null ? listed(ids.map((one) => customer(one, one))) : (answers[id] ?? deleted);
    if (answer instanceof Error) throw answer;
    return Response.json(answer[1], { status: answer[0] });
  };
  return { fetch, seen, keys };
}

const remove = (ids: readonly string[], surroundings: Surroundings, more: readonly string[] = []) =>
  lkm(['customers', 'delete', ...ids, '-y', '--max-retries', '0', ...more], {
    ...surroundings,
    env: { ...remote, ...surroundings.env },
  });

describe('deleting several customers', () => {
  it('looks all of them up first, then deletes and tells each', async () => {
    const { fetch, seen, keys } = serviceOf(['a', 'b', 'c']);
    const ran = await remove(['b', 'a'], { fetch });
    expect(ran).toEqual({ code: 0, stdout: '', stderr: 'deleted b\ndeleted a\n' });
    expect(seen).toEqual(['GET', 'DELETE b', 'DELETE a']);
    expect(keys.a).not.toBe(keys.b);
  });

  it('deletes none when one is missing', async () => {
    const { fetch, seen } = serviceOf(['a', 'b']);
    const ran = await remove(['a', 'missing', 'b', 'none'], { fetch });
    expect(ran).toEqual({
      code: 6,
      stdout: '',
      stderr:
        'error: there is no customer missing, none\n  Nothing was sent: none of the others was deleted.\n' +
        '  See them:  lkm customers list\n',
    });
    expect(seen).toEqual(['GET']);
  });

  it('refuses an id that is given twice', async () => {
    const { fetch, seen } = serviceOf(['a', 'b']);
    const ran = await remove(['a', 'b', 'a'], { fetch });
    expect(ran).toEqual({ code: 2, stdout: '', stderr: 'error: a is given twice\n  Nothing was sent.\n' });
    expect(seen).toEqual([]);
  });

  it('goes on after one that is refused, and ends with 12', async () => {
    const { fetch, seen } = serviceOf(['a', 'b', 'c'], { b: gone });
    const ran = await remove(['a', 'b', 'c'], { fetch });
    expect(ran).toEqual({
      code: 12,
      stdout: '',
      stderr:
        'deleted a\nwarning: not deleted b: Customer not found\ndeleted c\nwarning: deleted 2 of 3 customers; not b\n',
    });
    expect(seen.slice(1)).toEqual(['DELETE a', 'DELETE b', 'DELETE c']);
  });

  it('has a row for each in JSON', async () => {
    const { fetch, keys } = serviceOf(['a', 'b'], { a: gone });
    const { code, stdout } = await remove(['a', 'b'], { fetch }, ['--json']);
    expect(code).toBe(12);
    expect(JSON.parse(stdout)).toEqual([
      { id: 'a', deleted: false, error: 'Customer not found', idempotencyKey: keys.a },
      { id: 'b', deleted: true, error: null, idempotencyKey: keys.b },
    ]);
  });

  it('has the chosen fields of each in JSON', async () => {
    const { fetch } = serviceOf(['a', 'b'], { a: gone });
    const { stdout } = await remove(['a', 'b'], { fetch }, ['--json', '--fields', 'id,deleted']);
    expect(JSON.parse(stdout)).toEqual([
      { id: 'a', deleted: false },
      { id: 'b', deleted: true },
    ]);
  });

  it('stops where the service has no answer, says what is left, and goes on there when it is run again', async () => {
    const cwd = tempFolder();
    const lost = serviceOf(['a', 'b', 'c'], { b: refusal(500, 1, 'Server error') });
    const stopped = await remove(['a', 'b', 'c'], { fetch: lost.fetch, cwd, pid: 7 });
    expect(stopped.code).toBe(8);
    expect(stopped.stderr).toContain('deleted a\nwarning: deleted 1 of 3 customers; stopped at b\nerror: ');
    const later = serviceOf(['b', 'c']);
    const again = await remove(['a', 'b', 'c'], { fetch: later.fetch, cwd, pid: 8 });
    expect(again.code).toBe(0);
    expect(again.stderr).toBe(
      'repeating 3 calls that had no answer, the first of 12:00 UTC\ndeleted a\ndeleted b\ndeleted c\n',
    );
    expect({ a: later.keys.a, b: later.keys.b }).toEqual({ a: lost.keys.a, b: lost.keys.b });
  });

  it('goes on where the rate limit stopped it', async () => {
    const cwd = tempFolder();
    const limited = serviceOf(['a', 'b'], { b: refusal(429, 3, 'Rate limit exceeded') });
    expect((await remove(['a', 'b'], { fetch: limited.fetch, cwd, pid: 7 })).code).toBe(9);
    const later = serviceOf(['b']);
    expect((await remove(['a', 'b'], { fetch: later.fetch, cwd, pid: 8 })).code).toBe(0);
    expect(later.keys.a).toBe(limited.keys.a);
  });

  it('shows every request with --dry-run', async () => {
    const { fetch, seen } = serviceOf(['a', 'b']);
    const { code, stdout } = await remove(['a', 'b'], { fetch }, ['-n', '--json']);
    expect({ code, seen }).toEqual({ code: 0, seen: [] });
    type Shown = { readonly url: string; readonly headers: Readonly<Record<string, string>> };
    const { requests }: { requests: Shown[] } = JSON.parse(stdout);
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
    expect(requests.map(({ url }) => url)).toEqual(
      ['a', 'b'].map((id) => `https://licensing.example.com/customer/by-id?customerId=${id}`),
    );
  });
});
