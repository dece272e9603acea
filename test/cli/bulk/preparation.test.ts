import { describe, expect, it } from 'vitest';
import { lkm, type Surroundings, tempFolder } from '../fake-io.ts';
import { bulkShop, unauthorized } from './bulk-shop.ts';
import { issueOrders } from './orders.ts';

describe('the customers of a file of orders', () => {
  it('are found by their e-mail address, or made, once each: in a file', async () => {
    const cwd = tempFolder();
    await lkm(['products', 'list', '--create'], { cwd, env: { LKM_DB: 'lkm.db' } });
    await issueOrders((argv, more: Surroundings = {}) => lkm(argv, { cwd, ...more, env: { LKM_DB: 'lkm.db' } }));
  });

  it('are made once, whichever request is the last before the command is killed', async () => {
    await using shop = await bulkShop();
    const order = (number: number, who: string) => `o-${number},${who},${who}@a.example\n`;
    shop.write(
      'orders.csv',
      `reference,customerName,customerEmail\n${[1, 2, 3].map((n) => order(n, 'ada')).join('')}${order(4, 'bob')}`,
    );
    const issue = ['keys', 'create', '-f', 'orders.csv', '--concurrency', '1', '--max-retries', '0', '--json'];
    let ended = { code: -1, stdout: '' };
    for (let last = 1; ended.code !== 0 && last < 20; last++) {
      const before = shop.sent.length;
      // Its request is carried out, and its answer is lost.
      shop.meddle(async (request, number) => {
        if (number - before < last) return null;
        await shop.through(request);
        throw new TypeError('fetch failed');
      });
      const env = { LKM_STATE_DIR: `${shop.cwd}/state-${last % 2}` };
      ended = await shop.at(issue, { env });
    }
    expect(ended.code).toBe(0);
    shop.meddle(() => null);
    expect(await shop.keys()).toHaveLength(4);
    expect(await shop.json('customers', 'list')).toHaveLength(2);
  });

  it.each(['POST /customer', 'POST /create-key'])(
    'that a run has made are the same ones when it goes on, whatever their address is by then: the answer of %s was lost',
    async (lost) => {
      await using shop = await bulkShop();
      shop.write('orders.csv', 'reference,customerName,customerEmail\no-1,Ada,ada@a.example\no-2,Ada,ada@a.example\n');
      const issue = ['keys', 'create', '-f', 'orders.csv', '--concurrency', '1', '--max-retries', '0'];
      shop.meddle(async (request) => {
        if (`${request.method} ${new URL(request.url).pathname}` !== lost) return null;
        await shop.through(request);
        throw new TypeError('fetch failed');
      });
      expect((await shop.at(issue)).code).toBe(8);
      shop.meddle(() => null);
      const [{ id }] = await shop.json('customers', 'list');
      await shop.at(['customers', 'update', id, '--email', 'new@a.example']);
      expect((await shop.at(issue)).code).toBe(0);
      expect(await shop.json('customers', 'list')).toHaveLength(1);
      expect(await shop.json('customers', 'keys', id)).toHaveLength(2);
    },
  );

  it('are found where somebody else has made them since they were looked for', async () => {
    await using shop = await bulkShop();
    const who = ['--name', 'Ada', '--email', 'ada@a.example'];
    shop.meddle(async ({ method }) => {
      if (method === 'GET') return null;
      shop.meddle(() => null);
      await shop.at(['customers', 'create', ...who]);
      return null;
    });
    shop.write('orders.csv', 'reference,customerName,customerEmail\no-1,Ada,ada@a.example\n');
    expect((await shop.at(['keys', 'create', '-f', 'orders.csv'])).code).toBe(0);
    expect(await shop.json('customers', 'list')).toHaveLength(1);
  });

  it('may be named by the address alone where they are there, also in the column of their ids', async () => {
    await using shop = await bulkShop();
    await shop.at(['customers', 'create', '--name', 'Ada Ltd', '--email', 'it@ada.example']);
    shop.write('orders.csv', 'reference,customer\no-1,it@ada.example\no-2,IT@ada.example\n');
    expect((await shop.at(['keys', 'create', '-f', 'orders.csv'])).code).toBe(0);
    const [{ id }] = await shop.json('customers', 'list');
    expect(await shop.json('customers', 'keys', id)).toHaveLength(2);
  });

  it('and their product may be named by their names, which a dry run looks for', async () => {
    await using shop = await bulkShop();
    await shop.at(['customers', 'create', '--name', 'Ada Ltd', '--email', 'it@ada.example']);
    shop.write('orders.csv', 'reference,customer,product\no-1,ada ltd,engine pro\no-2,Ada Ltd,Engine Pro\n');
    expect((await shop.at(['keys', 'create', '-f', 'orders.csv'])).code).toBe(0);
    const [{ id }] = await shop.json('customers', 'list');
    const keys = await shop.json('customers', 'keys', id);
    expect(keys.map(({ productId }: { productId: string }) => productId)).toEqual([shop.product, shop.product]);
    shop.write('orders.csv', 'reference,customer,product\no-3,Bob,Studio\n');
    expect(await shop.at(['keys', 'create', '-f', 'orders.csv', '-n'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^error: orders.csv has 2 problems; nothing was sent\n {2}line 2: no product is called 'Studio'\n {2}line 2: no customer is called 'Bob'\n/,
      ),
    });
  });

  it('keep the ids that they had elsewhere, also for a token that may not look customers up', async () => {
    await using shop = await bulkShop();
    shop.write('keys.csv', 'key,customerId,customerName\nACME-0001-2019-AAAA-BBBB,old-7,Ada Ltd\n');
    await shop.at(['keys', 'import', '-f', 'keys.csv', '-y']);
    const LKM_TOKEN = (
      await shop.at(['tokens', 'create', '--kind', 'scoped', '--scope', 'license:write', '--name', 'shop', '-q'])
    ).stdout.trim();
    shop.write('orders.csv', 'reference,customer\no-1,old-7\n');
    expect((await shop.at(['keys', 'create', '-f', 'orders.csv'], { env: { LKM_TOKEN } })).code).toBe(0);
    expect(await shop.json('customers', 'keys', 'old-7')).toHaveLength(2);
  });

  it('need a name where they are not there: every row that lacks one is named, with its other problems', async () => {
    await using shop = await bulkShop();
    shop.write('orders.csv', 'reference,customerEmail,maxActivations\no-1,a@a.example,\no-2,b@b.example,x\n');
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr } = await shop.at(['keys', 'create', '-f', 'orders.csv', ...more]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: orders.csv has 3 problems; nothing was sent\n/);
      expect(stderr).toContain('\n  line 2: customerName is missing: no customer has the address a@a.example\n');
      expect(stderr).toContain('\n  line 3: maxActivations: ');
      expect(stderr).toContain('\n  line 3: customerName is missing: no customer has the address b@b.example\n');
    }
    expect(shop.sent.filter(({ path }) => path.startsWith('POST'))).toEqual([]);
  });

  it('are one for all keys of --count', async () => {
    await using shop = await bulkShop();
    const who = ['--new-customer-name', 'Ada Ltd', '--new-customer-email', 'it@ada.example'];
    expect((await shop.at(['keys', 'create', '--count', '3', ...who])).code).toBe(0);
    const [{ id }, ...others] = await shop.json('customers', 'list');
    expect(others).toEqual([]);
    expect(await shop.json('customers', 'keys', id)).toHaveLength(3);
  });
});

describe('products that an import makes', () => {
  const rows = 'key,productId\nACME-0001-2019-AAAA-BBBB,prod_of_an_old_system_01\n';

  it('are made by the same command, where the first command did not come so far', async () => {
    await using shop = await bulkShop();
    shop.write('keys.csv', rows);
    shop.meddle((request) => (request.method === 'POST' ? unauthorized() : null));
    const argv = ['keys', 'import', '-f', 'keys.csv', '--create-products', '-y'];
    expect((await shop.at(argv)).code).toBe(4);
    shop.meddle(() => null);
    expect(await shop.at(argv)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('imported 1 of 1 key'),
    });
  });
});

describe('a file with problems', () => {
  it('shows all those of a row at once, of cells and of fields', async () => {
    await using shop = await bulkShop();
    shop.write(
      'keys.csv',
      'key,maxActivations,maxConcurrentSessions,id,createdAt\nshort,x,3,lic_01jd7q2h0t5v9k3f8s6w4e1m7x,yesterday\n',
    );
    const { stderr } = await shop.at(['keys', 'import', '-f', 'keys.csv', '-n']);
    expect(stderr.split('\n').map((line) => line.slice(0, 44))).toEqual(
      [
        'error: keys.csv has 3 problems; nothing was ',
        "  line 2: maxActivations: 'x' is neither a wh",
        "  line 2: createdAt: 'yesterday' is not a date",
        '  line 2: key is shorter than 6 characters',
        '',
      ].map((line) => line.slice(0, 44)),
    );
  });
});

describe('what is said in the end', () => {
  it('tells keys that were there from those that were imported', async () => {
    await using shop = await bulkShop();
    const keys = ['ACME-0001-2019-AAAA-BBBB', 'ACME-0002-2019-AAAA-BBBB'];
    const argv = ['keys', 'import', '-f', 'keys.csv', '-y', '--if-absent'];
    shop.write('keys.csv', `key\n${keys[0]}\n`);
    await shop.at(argv);
    shop.write('keys.csv', `key\n${keys.join('\n')}\n`);
    expect((await shop.at(argv)).stderr).toMatch(/^imported 1 of 2 keys · 1 was imported before\n$/);
  });
});
