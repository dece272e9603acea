import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';
import { issued, KEY, PRODUCT, remote, scriptedService } from './scripted-service.ts';

const service = (...answers: Parameters<typeof scriptedService>) => {
  const { fetch, seen } = scriptedService(...answers);
  const cwd = tempFolder();
  return { seen, cwd, at: (...argv: string[]) => lkm(['api', ...argv], { env: remote, fetch, cwd }) };
};

describe('lkm api', () => {
  it('prints the response as it came', async () => {
    const { at, seen } = service([200, { data: { anything: [1, 'ü'] }, code: 0, later: true }]);
    expect(await at('/stats')).toEqual({
      code: 0,
      stdout: '{"data":{"anything":[1,"ü"]},"code":0,"later":true}\n',
      stderr: '',
    });
    expect(seen).toEqual([
      { method: 'GET', path: '/stats', body: null, idempotencyKey: null, authorization: 'Bearer lkm_admin_secret' },
    ]);
  });

  it('says which fields the service finds wrong', async () => {
    const cwd = tempFolder();
    const at = (...argv: string[]) => lkm(['api', ...argv, '--db', 'lkm.db', '--create'], { cwd });
    const { code, stderr } = await at('POST', '/create-key', '-F', 'usesPerKey=5', '-F', 'maxActivations=5');
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('take: maxActivations\n') });
    const wrong = await at('POST', '/create-key', '-F', 'usesPerKey=5', '-F', 'newCustomer[email]=x');
    expect(wrong.stderr).toContain('take: productId, usesPerKey, newCustomer.name, newCustomer.email\n');
  });

  it.each<[line: string, method: string, path: string, body: unknown]>([
    ['stats', 'GET', '/stats', null],
    ['get /key/list?status=full -f limit=5', 'GET', '/key/list?status=full&limit=5', null],
    ['/create-key -f productId=p -f n=5', 'POST', '/create-key', { productId: 'p', n: '5' }],
    ['-X patch /key -F n=5 -F on=true', 'PATCH', '/key', { n: 5, on: true }],
    ['POST /x -F none=null -F long=12345678901234567', 'POST', '/x', { none: null, long: '12345678901234567' }],
    [
      'POST /x -f to[name]=Ada -f hosts[]=a -f hosts[]=b -F to[n]=-3',
      ...(['POST', '/x', { to: { name: 'Ada', n: -3 }, hosts: ['a', 'b'] }] as const),
    ],
    ['DELETE /customer/by-id?customerId=cus_1', 'DELETE', '/customer/by-id?customerId=cus_1', null],
    ['POST /signing-key/rotate', 'POST', '/signing-key/rotate', null],
    ['POST /product', 'POST', '/product', {}],
    ['POST /not/known', 'POST', '/not/known', null],
    ['/a/../b', 'GET', '/b', null],
  ])('sends %s', async (line, method, path, body) => {
    const { at, seen } = service([200, { code: 0 }]);
    expect(await at(...line.split(' '))).toMatchObject({ code: 0 });
    expect(seen).toEqual([expect.objectContaining({ method, path, body })]);
    expect(seen[0]?.idempotencyKey === null).toBe(method === 'GET');
  });

  it('asks about the path before the address when the service has no such path', async () => {
    const { code, stderr } = await service([404, { message: 'Not found', code: 1 }]).at('/customers');
    expect({ code, stderr }).toEqual({
      code: 10,
      stderr:
        'error: the service answered 404 (Not found): it has no GET /customers\n' +
        '  GET /customers answered 404.\n' +
        "  See the paths of the service:  lkm api /openapi.json --jq '.paths|keys'\n" +
        '  If it shows none, there is no lkm service at https://licensing.example.com.\n',
    });
  });

  it('reads a body and a field from a file', async () => {
    const { at, seen, cwd } = service([200, { code: 0 }]);
    writeFileSync(join(cwd, 'body.json'), '{"productId": "p", "deep": {"a": [1.5, 12345678901234567]}}\n');
    writeFileSync(join(cwd, 'key.txt'), `${KEY}\n`);
    await at('POST', '/x?q=1', '--input', 'body.json', '-f', 'r=2');
    await at('POST', '/x', '-F', 'licenseKey=@key.txt');
    expect(seen.map(({ path, body }) => [path, body])).toEqual([
      ['/x?q=1&r=2', { productId: 'p', deep: { a: [1.5, '12345678901234567'] } }],
      ['/x', { licenseKey: KEY }],
    ]);
  });

  it.each<[line: string, message: string]>([
    ['https://evil.example/key', "'https://evil.example/key' is not the path of a request"],
    ['//evil.example/key', "'//evil.example/key' is not the path of a request"],
    ['/\\evil.example/key', "'/\\evil.example/key' is not the path of a request"],
    ['/key#x', "'/key#x' is not the path of a request"],
    ['FETCH /key', "'FETCH' is not a method: GET, POST, PUT, PATCH, DELETE"],
    ['GET /key more', "'more' is too much: a method and a path are all that it takes"],
    ['GET /key -X POST', "--method and 'GET' name two methods"],
    ['/x?a=1&a=2', 'a is given twice'],
    ['/x -f a=1 -f a=2', 'a is given twice'],
    ['/x -f a=1 -f a[b]=2', 'a[b] does not go with the fields before it'],
    ['/x -f __proto__[b]=2', "'__proto__[b]' is not a name of a field"],
    ['/x -f secret', 'a field is written NAME=VALUE'],
    ['POST /x?a=1 -f a=2', 'a stands in the query and in the body; leave one of them out'],
    ['POST /x --paginate', '--paginate is for lists, which are read with GET'],
    ['GET /x -n', '--dry-run is for changes: a GET changes nothing'],
  ])('refuses %s before anything is sent', async (line, message) => {
    const { at, seen } = service([200, {}]);
    const { code, stdout, stderr } = await at(...line.split(' '));
    expect([code, stdout, stderr.split('\n')[0], seen]).toEqual([2, '', `error: ${message}`, []]);
  });

  it('refuses a body that is no object, without repeating it', async () => {
    const { at, seen, cwd } = service([200, {}]);
    writeFileSync(join(cwd, 'body.json'), `["${KEY}"]`);
    const { code, stderr } = await at('POST', '/x', '--input', 'body.json');
    expect([code, stderr, seen]).toEqual([2, expect.stringContaining('the input is not a JSON object\n'), []]);
    expect(stderr).not.toContain(KEY);
  });

  it('repeats a change that got no answer under the same idempotency key, once', async () => {
    const { at, seen } = service(new Error('gone'), new Error('gone'), issued);
    const argv = ['POST', '/create-key', '-f', `productId=${PRODUCT}`, '--max-retries', '0'];
    expect((await at(...argv)).code).toBe(8);
    expect((await at('POST', '/create-key', '-f', `productId=${PRODUCT}`, '--max-retries', '1')).code).toBe(0);
    expect(new Set(seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it('shows no licence key in what it says, and the request alone with --dry-run', async () => {
    const { at, seen } = service(new Error('gone'));
    const failed = await at('DELETE', `/key?productId=p&licenseKey=${KEY}`, '--max-retries', '0', '-v');
    expect(failed.code).toBe(8);
    expect(failed.stderr).not.toContain(KEY);
    expect(failed.stderr).toContain('licenseKey=…');
    const sent = seen.length;
    const { stdout } = await at('POST', `/x?licenseKey=${KEY}`, '-f', `secret=${KEY}`, '-n');
    expect(stdout).not.toContain(KEY);
    expect(stdout).toContain('"secret": "[redacted]"');
    expect(seen.length).toBe(sent);
  });

  it('fails when a list ends in something that is no list, rather than drop what was read', async () => {
    const { at, seen } = service(
      [200, { data: [{ id: 1 }], meta: { next: 'x' }, code: 0 }],
      [200, { maintenance: true, code: 0 }],
    );
    const { code, stdout, stderr } = await at('/not/known', '--paginate');
    expect({ code, stdout, sent: seen.map(({ path }) => path) }).toEqual({
      code: 10,
      stdout: '',
      sent: ['/not/known', '/not/known?cursor=x'],
    });
    expect(stderr).toMatch(/^error: the service answered 200 in a shape outside its contract: data: /);
  });

  it('writes a response to a file that only its owner can read', async () => {
    const { at, cwd } = service([200, { key: KEY, code: 0 }]);
    await at('POST', '/create-key', '-f', 'productId=p', '-o', 'answer.json');
    expect(readFileSync(join(cwd, 'answer.json'), 'utf8')).toBe(`{"key":"${KEY}","code":0}\n`);
    expect(statSync(join(cwd, 'answer.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });
});

describe('lkm api on a database', () => {
  const surroundings = { cwd: tempFolder(), env: { LKM_DB: 'lkm.db' } };
  const at = (...argv: string[]) => lkm(argv, surroundings);
  beforeAll(async () => {
    const product = (await at('products', 'create', '--name', 'Engine', '--create')).stdout.trim();
    for (let made = 0; made < 5; made++) await at('keys', 'create', '-P', product);
    for (const name of ['Ada', 'Bob', 'Eve']) await at('customers', 'create', '--name', name);
  });

  it.each<[path: string, items: number, requests: number]>([
    ['/key/list', 5, 1],
    ['/key/list?limit=2', 5, 3],
    ['/key/list?page=1&limit=2', 5, 3],
    ['/customer', 3, 1],
    ['/customer?limit=2', 3, 2],
    ['/event/list?limit=4', 9, 4],
  ])('reads %s to its end', async (path, items, requests) => {
    const { code, stdout, stderr } = await at('api', path, '--paginate', '-v');
    const { data, meta, code: inside } = JSON.parse(stdout);
    expect({ code, inside, meta, items: data.length }).toEqual({ code: 0, inside: 0, meta: undefined, items });
    expect(new Set(data.map(({ id }: { id: string }) => id)).size).toBe(items);
    expect(stderr.split('\n').filter((line) => line.startsWith('GET '))).toHaveLength(requests);
  });

  it('prints what has no pages as it is, and a text that is no JSON', async () => {
    expect(JSON.parse((await at('api', '/stats', '--paginate')).stdout)).toMatchObject({ code: 0 });
    expect((await at('api', '/.well-known/revocations')).stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(JSON.parse((await at('api', '/openapi.json')).stdout)).toMatchObject({
      openapi: expect.stringMatching(/^3.1/),
    });
  });
});
