import { describe, expect, it } from 'vitest';
import { lkm, person, type Surroundings, says, tempFolder } from './fake-io.ts';
import { against, customer, refusal, remote, type Scripted } from './scripted-service.ts';
import { openShop } from './shop.ts';

const oneOfOne = { total: 1, page: 1, limit: 5, totalPages: 1 };

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

  it('are asked about where the name is taken, and made where that is wanted', async () => {
    const { at, answer, product } = await openShop();
    const refused = await at('products create ENGINE');
    expect(refused).toMatchObject({ code: 3, stdout: '', stderr: says('--allow-same-name') });
    expect(refused.stderr).toContain("making a second product called 'ENGINE'");
    const saying = (yes: boolean) => ({ terminal: true, prompter: person({ confirm: async () => yes }) });
    const asked = await at('products create Engine', saying(false));
    expect(asked).toMatchObject({ code: 3, stderr: says(`${product} is called Engine already`) });
    expect(await answer('products list -q')).toBe(product);
    expect((await at('products create Engine -n')).code).toBe(0);
    expect((await at('products create Engine', saying(true))).code).toBe(0);
    expect((await at('products create Engine --allow-same-name')).code).toBe(0);
    expect((await answer('products list -q')).split('\n')).toHaveLength(3);
  });

  it('are asked about once: a request without an answer is repeated', async () => {
    const cwd = tempFolder();
    const at = '2026-11-21T09:00:00.000Z';
    const named = { id: 'prod_1', name: 'Engine', active: true, createdAt: at, updatedAt: at, slug: null };
    const list = (...data: object[]): Scripted => [200, { action: '', status: true, data, code: 0 }];
    const made: Scripted = [200, { action: '', status: true, data: named, code: 0 }];
    const create = 'products create Engine --max-retries 0';
    const lost = await against(create, [list(), new TypeError('fetch failed')], { cwd, pid: 7 });
    expect(lost.code).toBe(8);
    const again = await against(create, [list(named), made], { cwd, pid: 8 });
    expect(again).toMatchObject({ code: 0, stdout: 'prod_1\n' });
    expect(again.seen.at(-1)?.idempotencyKey).toBe(lost.seen.at(-1)?.idempotencyKey);
    const given = await against(`${create} --idempotency-key k`, [list(named), made], { cwd, pid: 9 });
    expect(given.code).toBe(0);
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
    const { code, stderr, seen, keys } = await remove(['cus_a', 'cus_b', 'cus_c'], { cus_b: gone });
    expect({ code, stderr }).toEqual({
      code: 12,
      stderr:
        'deleted cus_a\nwarning: not deleted cus_b: Customer not found\ndeleted cus_c\nwarning: deleted 2 of 3 customers; not cus_b\n',
    });
    expect(seen).toEqual(['DELETE cus_a', 'DELETE cus_b', 'DELETE cus_c']);
    expect(new Set(Object.values(keys)).size).toBe(3);
  });

  it('has a row for each in JSON, with all fields or those that are chosen', async () => {
    const { stdout, keys } = await remove(['cus_a', 'cus_b'], { cus_a: gone }, { more: ['--json'] });
    expect(JSON.parse(stdout)).toEqual([
      { id: 'cus_a', deleted: false, error: 'Customer not found', idempotencyKey: keys.cus_a },
      { id: 'cus_b', deleted: true, error: null, idempotencyKey: keys.cus_b },
    ]);
    const chosen = await remove(['cus_a', 'cus_b'], { cus_a: gone }, { more: ['--json', '--fields', 'id,deleted'] });
    expect(JSON.parse(chosen.stdout)).toEqual([
      { id: 'cus_a', deleted: false },
      { id: 'cus_b', deleted: true },
    ]);
  });

  it.each<[error: Scripted, code: number]>([
    [refusal(500, 1, 'Server error'), 8],
    [refusal(429, 3, 'Rate limit exceeded'), 9],
  ])('stops at %j, and goes on there when it is run again', async (error, code) => {
    const cwd = tempFolder();
    const stopped = await remove(['cus_a', 'cus_b', 'cus_c'], { cus_b: error }, { cwd, pid: 7 });
    expect(stopped.code).toBe(code);
    expect(stopped.stderr).toContain('deleted cus_a\nwarning: deleted 1 of 3 customers; stopped at cus_b\nerror: ');
    const again = await remove(['cus_a', 'cus_b', 'cus_c'], {}, { cwd, pid: 8 });
    expect(again).toMatchObject({
      code: 0,
      stderr:
        'repeating 3 calls that had no answer, the first of 12:00 UTC\ndeleted cus_a\ndeleted cus_b\ndeleted cus_c\n',
    });
    expect(again.keys).toMatchObject(stopped.keys);
  });

  it('shows every request with --dry-run, and refuses an id that is given twice', async () => {
    const { code, stdout, seen } = await remove(['cus_a', 'cus_b'], {}, { more: ['-n', '--json'] });
    expect({ code, seen }).toEqual({ code: 0, seen: [] });
    const { requests } = JSON.parse(stdout);
    expect(requests.map(({ url }: { url: string }) => url)).toEqual(
      ['cus_a', 'cus_b'].map((id) => `https://licensing.example.com/customer/by-id?customerId=${id}`),
    );
    expect(requests[0].headers['idempotency-key']).not.toBe(requests[1].headers['idempotency-key']);
    expect(await remove(['cus_a', 'cus_b', 'cus_a'])).toMatchObject({
      code: 2,
      seen: [],
      stderr: says('is given twice'),
    });
  });
});

describe('a customer that is deleted by its name', () => {
  it('is shown, and is gone once its id or its name is typed', async () => {
    const { at, answer } = await openShop();
    const id = await answer('customers create Lovelace --email it@ada.example -q');
    await answer('keys create --customer Lovelace');
    const asked: string[] = [];
    const typing = (answer: string) => ({
      terminal: true,
      prompter: person({
        type: async (question) => {
          asked.push(question);
          return answer;
        },
      }),
    });
    const kept = await at('customers delete Lovelace', typing('ada'));
    expect(kept).toMatchObject({ code: 3, stderr: says('Nothing was sent.') });
    expect(kept.stderr).toContain(`${id}  Lovelace <it@ada.example>\nkeys that lose their customer: 1\n`);
    const deleted = await at('customers delete it@ada.example', typing('Lovelace'));
    expect(deleted).toMatchObject({ code: 0, stderr: says(`deleted ${id}\n`) });
    expect(asked).toEqual([`type ${id} or Lovelace to confirm:`, `type ${id} or Lovelace to confirm:`]);
    expect(await at('customers delete Lovelace -y')).toMatchObject({ code: 6, stderr: says('not found') });
  });

  it('is named by --confirm in a script, and is none of two that are called so', async () => {
    const { at, answer } = await openShop();
    await answer('customers create Ada');
    expect((await at('customers delete Ada')).stderr).toContain('--confirm cus_');
    expect((await at('customers delete Ada --confirm Eve')).code).toBe(2);
    expect((await at('customers delete ADA --confirm ada')).code).toBe(0);
    for (const _ of ['one', 'two']) await answer('customers create Twin');
    expect(await at('customers delete Twin -y')).toMatchObject({
      code: 2,
      stderr: says('several customers are called'),
    });
  });

  it('is named by its id in the command that repeats it, and asked for by the id that it had elsewhere', async () => {
    const ada = { action: '', status: true, data: customer('cus_1', 'Ada', null), code: 0 };
    const gone = refusal(404, 2, 'Customer not found');
    const unknown = refusal(500, 1, 'Server error');
    const first = await against('customers delete Ada --confirm Ada --max-retries 0', [
      ...[gone, [200, { action: '', status: true, data: [ada.data], meta: oneOfOne, code: 0 }] as const],
      ...[gone, [200, { action: '', status: true, data: [ada.data], meta: oneOfOne, code: 0 }] as const],
      unknown,
    ]);
    expect(first.code).toBe(8);
    expect(first.stderr).toMatch(/lkm customers delete cus_1 --confirm cus_1 .*--idempotency-key/);
    const none = [200, { action: '', status: true, data: [], meta: { ...oneOfOne, total: 0 }, code: 0 }] as const;
    const again = await against('customers delete 4711 -y', [gone, none, [200, { action: '', status: true, code: 0 }]]);
    expect(again).toMatchObject({ code: 0, stderr: 'deleted 4711\n' });
  });
});
