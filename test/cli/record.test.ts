import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { fakeIo, NOW } from './fake-io.ts';
import { openShop } from './shop.ts';

/** A database in which a key was issued, signed for a host, and freed. */
async function eventful() {
  const shop = await openShop();
  const { cwd, names, answer, at } = shop;
  names.KEY = await answer('keys create --new-customer-name Ada --new-customer-email ada@x.org');
  await answer('keys sign KEY --host-id host-1 -o -');
  await answer('keys deactivate KEY --host-id host-1');
  return { cwd, names, db: join(cwd, 'lkm.db'), key: names.KEY, answer, at };
}

describe('the record of a database that commands work on', () => {
  it('is numbered when each command ends', async () => {
    const { answer, key, db } = await eventful();
    expect(await answer('events list --fields seq,type')).toBe(
      '1\tproduct.created\n2\tcustomer.created\n3\tlicense.created\n' +
        '4\tdevice.activated\n5\tlicense.signed\n6\tdevice.deactivated',
    );
    expect(await answer('audit list --fields seq,operation,outcome,door')).toBe(
      '1\taccounts.create\tdone\tdb\n2\tproducts.create\tdone\tdb\n3\tkeys.create\tdone\tdb\n' +
        '4\tkeys.sign\tdone\tdb\n5\tkeys.deactivate\tdone\tdb',
    );
    expect((await answer('events list --json')) + (await answer('audit list --json'))).not.toContain(key);
    const database = new DatabaseSync(db);
    const stored = JSON.stringify(
      database.prepare('select content from events union all select content from audit').all(),
    );
    database.close();
    for (const secret of [key, 'ada@x.org', 'Ada']) expect(stored).not.toContain(secret);
  });

  it('is listed with the names of tokens, products and customers, those that they have now', async () => {
    const { answer, cwd } = await eventful();
    const token = await answer('tokens create --kind admin --name Shop -q');
    writeFileSync(join(cwd, 'token'), token, { mode: 0o600 });
    await answer('customers update Ada --name Lovelace --token-file token');
    const names = '--fields tokenName,productName,customerName,customerEmail --format csv';
    expect(await answer(`events list --type license.signed --type customer.updated ${names}`)).toBe(
      'tokenName,productName,customerName,customerEmail\n,Engine,Lovelace,ada@x.org\nShop,,Lovelace,ada@x.org',
    );
    expect(await answer(`audit list --last 1 ${names}`)).toContain('\nShop,,Lovelace,ada@x.org');
    await answer('audit list --last 1 -o audit.csv');
    expect(readFileSync(join(cwd, 'audit.csv'), 'utf8')).toContain(',Shop,,Lovelace,ada@x.org\n');
    expect(await answer('audit verify')).toBe('ok');
    await answer('customers delete Lovelace --yes');
    expect(await answer('audit verify')).toBe('ok');
    expect(await answer(`audit list --last 1 ${names}`)).toContain('\n,,,');
  });

  it('is listed in parts', async () => {
    const { at } = await eventful();
    for (const [line, stdout, stderr] of [
      ['events list --after 1 --limit 2', '2\n3\n', 'these are the first 2; there are more: --after 3\n'],
      ['audit list --after 4 --limit 1', '5\n', ''],
      ['events list --last 2', '5\n6\n', ''],
      ['events list --last 1 --type device.activated', '4\n', ''],
      ['audit list --last 2', '4\n5\n', ''],
      ['audit list --last 2 --after 4', '5\n', ''],
      ['events list --type license.signed --type device.activated', '4\n5\n', ''],
    ] as const) {
      expect(await at(`${line} --fields seq`)).toEqual({ code: 0, stdout, stderr });
    }
    expect(await at('audit list --limit 1 --last 2')).toMatchObject({ code: 2, stdout: '' });
  });

  it('shows the history of one key, with its devices', async () => {
    const { answer, names } = await eventful();
    await answer('keys create');
    await answer('keys update KEY --max-activations 9 --expires 2027-12-31 --metadata plan=pro');
    await answer('keys transfer KEY --nobody');
    const [old, key] = [names.KEY, await answer('keys reissue KEY')].map((one) => one?.slice(-5));
    const rows = (await answer('keys history KEY')).split('\n').map((line) => line.split('\t'));
    expect(rows.map(([, ...row]) => row)).toEqual([
      ['license.created', '', 'owner of the database', '127.0.0.1'],
      ['device.activated', 'host-1', 'owner of the database', '127.0.0.1'],
      ['license.signed', 'host-1', 'owner of the database', '127.0.0.1'],
      ['device.deactivated', 'host-1', 'owner of the database', '127.0.0.1'],
      [
        'license.updated',
        'maxActivations none → 9, expirationDate 2026-12-21 12:00 UTC → 2027-12-31 23:59 UTC, metadata',
        'owner of the database',
        '127.0.0.1',
      ],
      ['license.transferred', 'Ada → none', 'owner of the database', '127.0.0.1'],
      ['license.reissued', `…${old} → …${key}`, 'owner of the database', '127.0.0.1'],
    ]);
  });

  it('is followed as it grows, until the reader goes or a signal comes', async () => {
    const { at, cwd, db } = await eventful();
    const gone = await at('events tail --after 4', { stdout: 'EPIPE' });
    expect(gone).toEqual({ code: 0, stdout: '', stderr: '' });
    const stopped = new AbortController();
    const { io, printed } = fakeIo({ cwd, stop: stopped.signal });
    const followed = run(['events', 'tail', '--db', db, '--after', '4', '--fields', 'type'], io);
    await expect.poll(() => printed.stdout).toBe('license.signed\ndevice.deactivated\n');
    stopped.abort('SIGINT');
    expect(await followed).toBe(0);
    expect(printed.stdout).toBe('license.signed\ndevice.deactivated\n');
    expect((await at('events tail -o file')).code).toBe(2);
  });
});

describe('lkm audit verify', () => {
  it('finds nothing wrong with a log that is whole', async () => {
    const { at } = await eventful();
    expect(await at('audit verify')).toEqual({
      code: 0,
      stdout: 'ok\n',
      stderr: '5 rows · signed up to row 2, 2026-11-21 12:00 UTC\n',
    });
  });

  const changed = 'row 3 was changed: its hash does not fit\n';
  const replaced = (from: string, to: string) =>
    `update audit set content = replace(content, '${from}', '${to}') where seq = 3`;
  it.each([
    ['a changed row', replaced('done', 'dane'), changed],
    ['another operation beside the row', `update audit set operation = 'keys.get' where seq = 3`, changed],
    [
      'a name in a row, beside which lists show names',
      replaced('"details"', '"customerName":"Eve","details"'),
      changed,
    ],
    ['a member that stands twice in a row', replaced('{"actor"', '{"outcome":"refused","actor"'), changed],
    ['a removed row', 'delete from audit where seq = 3', 'row 3 is missing\n'],
    ['a cut-off end', 'delete from audit where seq > 3', 'rows 4 to 5 are missing at the end\n'],
    [
      'rows that changed places',
      'update audit set seq = -seq where seq in (2, 3); update audit set seq = 5 + seq where seq < 0',
      'row 2 stands behind row 3\n',
    ],
    [
      'a changed checkpoint',
      `update checkpoints set created_at = '2026-11-21T12:00:00.001Z'`,
      'no key of the account has signed the checkpoint of row 2\n',
    ],
  ])('names %s', async (_, sql, problem) => {
    const { at, db } = await eventful();
    const database = new DatabaseSync(db);
    database.exec(sql);
    database.close();
    expect(await at('audit verify')).toEqual({ code: 1, stdout: 'broken\n', stderr: problem });
  });

  it('names an older database that was put back, by a checkpoint that was kept', async () => {
    const { at, db } = await eventful();
    cpSync(db, `${db}.old`);
    const later = (line: string) => at(line, { now: NOW + 7_200_000 });
    await later('products create --name Server');
    await later('audit export kept');
    const verify = 'audit verify --checkpoint kept/checkpoint.json';
    expect(await later(verify)).toMatchObject({ code: 0, stdout: 'ok\n' });
    cpSync(`${db}.old`, db);
    expect(await at(verify)).toEqual({
      code: 1,
      stdout: 'broken\n',
      stderr:
        'the checkpoint that was given vouches for row 6, and the last one is 5: an older database was put back\n',
    });
    expect(await at('audit verify --checkpoint kept/README')).toMatchObject({ code: 13, stdout: '' });
  });
});

describe('lkm audit export', () => {
  it('writes a folder that sha256sum and openssl alone verify', async () => {
    const { at, cwd } = await eventful();
    expect(await at('audit export out')).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'wrote 5 rows to out · signed up to row 2\nkeep checkpoint.json elsewhere, and check it all with verify.sh\n',
    });
    const verify = () => {
      try {
        return execFileSync('sh', [join(cwd, 'out/verify.sh')], { encoding: 'utf8', stdio: 'pipe' });
      } catch (error) {
        return String(error instanceof Error && 'stderr' in error ? error.stderr : error);
      }
    };
    expect(verify()).toBe('ok: 5 rows, signed up to row 2\n');
    expect(await at('audit export out')).toMatchObject({ code: 13, stdout: '' });

    const rows = join(cwd, 'out/rows.jsonl');
    const whole = readFileSync(rows, 'utf8');
    writeFileSync(rows, whole.replace('keys.sign', 'keys.sing'));
    expect(verify()).toBe('broken: row 4 was changed\n');
    writeFileSync(rows, whole.split('\n').toSpliced(2, 1).join('\n'));
    expect(verify()).toBe('broken: row 3 is not in its place\n');
    writeFileSync(rows, '');
    expect(verify()).toBe('broken: rows after 0 are missing: row 2 was signed\n');
    writeFileSync(rows, whole);
    const signed = join(cwd, 'out/checkpoint.signed');
    writeFileSync(signed, readFileSync(signed, 'utf8').replace('"seq":2', '"seq":3'));
    expect(verify()).toContain('broken: the signature of the checkpoint does not fit\n');
  });

  it('needs a token that sees whole addresses, and so does the check', async () => {
    const { answer, at, cwd } = await eventful();
    writeFileSync(join(cwd, 'token'), await answer('tokens create --kind read-only --name auditor'), { mode: 0o600 });
    for (const line of ['audit verify', 'audit export out']) {
      const { code, stderr } = await at(`${line} --token-file token`);
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('this token sees addresses masked'),
      });
      expect(existsSync(join(cwd, 'out'))).toBe(false);
    }
    // A folder of somebody's own stays.
    mkdirSync(join(cwd, 'out'));
    await at('audit export out --token-file token');
    expect(readdirSync(join(cwd, 'out'))).toEqual([]);
    expect((await at('audit export out')).code).toBe(0);
  });

  it('is for its owner alone, and says what the disk refuses', async () => {
    const { at, cwd } = await eventful();
    await at('audit export out');
    for (const name of ['.', ...readdirSync(join(cwd, 'out'))]) {
      expect({ name, others: statSync(join(cwd, 'out', name)).mode & 0o077 }).toEqual({ name, others: 0 });
    }
    expect(await at('audit export lkm.db/out')).toMatchObject({
      code: 13,
      stderr: expect.stringContaining('cannot write lkm.db/out (ENOTDIR)'),
    });
  });
});
