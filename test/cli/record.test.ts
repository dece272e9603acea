import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { lkm, tempFolder } from './fake-io.ts';

/** A folder with a database in which a key was issued, signed for a host, and freed. */
async function eventful() {
  const cwd = tempFolder();
  const run = async (...argv: string[]) => {
    const ran = await lkm([...argv, '--db', 'lkm.db'], { cwd });
    if (ran.code !== 0) throw new Error(`${argv.join(' ')}: ${ran.stderr}`);
    return ran.stdout.trim();
  };
  const product = await run('products', 'create', '--name', 'Editor', '--create');
  const key = await run(
    'keys',
    'create',
    '-P',
    product,
    '--new-customer-name',
    'Ada',
    '--new-customer-email',
    'ada@x.org',
  );
  await run('keys', 'sign', key, '-P', product, '--host-id', 'host-1', '-o', '-');
  await run('keys', 'deactivate', key, '-P', product, '--host-id', 'host-1');
  const again = (argv: readonly string[]) => lkm([...argv, '--db', 'lkm.db'], { cwd });
  return { cwd, db: join(cwd, 'lkm.db'), product, key, run, again };
}

describe('the record of a database that commands work on', () => {
  it('is numbered when each command ends', async () => {
    const { run, key } = await eventful();
    const events = await run('events', 'list', '--fields', 'seq,type');
    expect(events.split('\n')).toEqual([
      '1\tproduct.created',
      '2\tcustomer.created',
      '3\tlicense.created',
      '4\tdevice.activated',
      '5\tlicense.signed',
      '6\tdevice.deactivated',
    ]);
    const audit = await run('audit', 'list', '--fields', 'seq,operation,outcome,door');
    expect(audit.split('\n')).toEqual([
      '1\taccounts.create\tdone\tdb',
      '2\tproducts.create\tdone\tdb',
      '3\tkeys.create\tdone\tdb',
      '4\tkeys.sign\tdone\tdb',
      '5\tkeys.deactivate\tdone\tdb',
    ]);
    const everything = (await run('events', 'list', '--json')) + (await run('audit', 'list', '--json'));
    for (const secret of [key, 'ada@x.org', 'Ada']) expect(everything).not.toContain(secret);
  });

  it('is listed in parts', async () => {
    const { again } = await eventful();
    const { stdout, stderr } = await again(['events', 'list', '--after', '1', '--limit', '2', '--fields', 'seq']);
    expect([stdout, stderr]).toEqual(['2\n3\n', 'these are the first 2; there are more: --after 3\n']);
    const rest = await again(['audit', 'list', '--after', '4', '--limit', '1', '--fields', 'seq']);
    expect([rest.stdout, rest.stderr]).toEqual(['5\n', '']);
    const typed = await again([
      'events',
      'list',
      '--type',
      'license.signed',
      '--type',
      'device.activated',
      '--fields',
      'seq',
    ]);
    expect(typed.stdout).toBe('4\n5\n');
  });

  it('shows the history of one key, with its devices', async () => {
    const { run, product, key } = await eventful();
    await run('keys', 'create', '-P', product);
    const rows = (await run('keys', 'history', key, '-P', product)).split('\n').map((line) => line.split('\t'));
    expect(rows.map(([, ...row]) => row)).toEqual([
      ['license.created', '', 'owner of the database', '127.0.0.1'],
      ['device.activated', 'host-1', 'owner of the database', '127.0.0.1'],
      ['license.signed', 'host-1', 'owner of the database', '127.0.0.1'],
      ['device.deactivated', 'host-1', 'owner of the database', '127.0.0.1'],
    ]);
  });

  it('is followed as it grows, until the reader goes or a signal comes', async () => {
    const { again, cwd } = await eventful();
    expect(await lkm(['events', 'tail', '--after', '4', '--db', 'lkm.db'], { cwd, stdout: 'EPIPE' })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    const stopped = new AbortController();
    setTimeout(() => stopped.abort('SIGINT'), 200);
    const { code, stdout } = await lkm(['events', 'tail', '--after', '4', '--json', '--db', 'lkm.db'], {
      cwd,
      stop: stopped.signal,
    });
    expect(code).toBe(0);
    expect(
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).type),
    ).toEqual(['license.signed', 'device.deactivated']);
    expect((await again(['events', 'tail', '-o', 'file'])).code).toBe(2);
  });
});

describe('lkm audit verify', () => {
  it('finds nothing wrong with a log that is whole', async () => {
    const { again } = await eventful();
    const { code, stdout, stderr } = await again(['audit', 'verify']);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: 'ok\n',
      stderr: '5 rows · signed up to row 2, 2026-11-21 12:00 UTC\n',
    });
  });

  it.each([
    [
      'a changed row',
      `update audit set content = replace(content, 'done', 'dane') where seq = 3`,
      'row 3 was changed: its hash does not fit\n',
    ],
    [
      'another operation beside the row',
      `update audit set operation = 'keys.get' where seq = 3`,
      'row 3 was changed: its hash does not fit\n',
    ],
    [
      'a member that stands twice in a row',
      `update audit set content = replace(content, '{"actor"', '{"outcome":"refused","actor"') where seq = 3`,
      'row 3 was changed: its hash does not fit\n',
    ],
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
    const { again, db } = await eventful();
    const database = new DatabaseSync(db);
    database.exec(sql);
    database.close();
    const { code, stdout, stderr } = await again(['audit', 'verify']);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: 'broken\n', stderr: problem });
  });

  it('names an older database that was put back, by a checkpoint that was kept', async () => {
    const { again, db, cwd } = await eventful();
    cpSync(db, `${db}.old`);
    const later = (argv: string[]) =>
      lkm([...argv, '--db', 'lkm.db'], { cwd, now: Date.parse('2026-11-21T14:00:00.000Z') });
    await later(['products', 'create', '--name', 'Server']);
    await later(['audit', 'export', 'kept']);
    expect(await later(['audit', 'verify', '--checkpoint', 'kept/checkpoint.json'])).toMatchObject({
      code: 0,
      stdout: 'ok\n',
    });
    cpSync(`${db}.old`, db);
    expect(await again(['audit', 'verify', '--checkpoint', 'kept/checkpoint.json'])).toEqual({
      code: 1,
      stdout: 'broken\n',
      stderr:
        'the checkpoint that was given vouches for row 6, and the last one is 5: an older database was put back\n',
    });
    expect(await again(['audit', 'verify', '--checkpoint', 'kept/README'])).toMatchObject({ code: 13, stdout: '' });
  });
});

describe('lkm audit export', () => {
  it('writes a folder that sha256sum and openssl alone verify', async () => {
    const { again, cwd } = await eventful();
    expect(await again(['audit', 'export', 'out'])).toEqual({
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
    expect(await again(['audit', 'export', 'out'])).toMatchObject({ code: 13, stdout: '' });

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
    const { run, again, cwd } = await eventful();
    const token = await run('tokens', 'create', '--kind', 'read-only', '--name', 'auditor');
    writeFileSync(join(cwd, 'token'), token, { mode: 0o600 });
    for (const argv of [
      ['audit', 'verify'],
      ['audit', 'export', 'out'],
    ]) {
      const { code, stderr } = await again([...argv, '--token-file', 'token']);
      expect(code).toBe(2);
      expect(stderr).toContain('this token sees addresses masked');
      expect(existsSync(join(cwd, 'out'))).toBe(false);
    }
    // A folder of somebody's own stays.
    mkdirSync(join(cwd, 'out'));
    await again(['audit', 'export', 'out', '--token-file', 'token']);
    expect(readdirSync(join(cwd, 'out'))).toEqual([]);
    expect((await again(['audit', 'export', 'out'])).code).toBe(0);
  });

  it('is for its owner alone, and says what the disk refuses', async () => {
    const { run, again, cwd } = await eventful();
    await run('audit', 'export', 'out');
    for (const name of ['.', ...readdirSync(join(cwd, 'out'))]) {
      expect({ name, others: statSync(join(cwd, 'out', name)).mode & 0o077 }).toEqual({ name, others: 0 });
    }
    expect(await again(['audit', 'export', 'lkm.db/out'])).toMatchObject({
      code: 13,
      stderr: expect.stringContaining('cannot write lkm.db/out (ENOTDIR)'),
    });
  });
});
