import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { connect, query } from './postgres.ts';
import { openPostgres, PostgresUnavailable, startPostgres } from './postgres-server.ts';

const starter = `
  const { startPostgres } = await import(${JSON.stringify(join(import.meta.dirname, 'postgres-server.ts'))});
  process.stdout.write((await startPostgres({ fsync: 'off' })).url);
  setInterval(() => {}, 1_000);
`;

it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'a PostgreSQL server and its folder are gone after %s of the process that started it',
  async (signal) => {
    const temporary = mkdtempSync(join(tmpdir(), 'lkm-test-'));
    const child = spawn(process.execPath, ['--input-type=module', '-e', starter], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: temporary },
    });
    const [url] = await once(child.stdout, 'data');
    const [{ folder = '' } = {}] = await query(String(url), `select current_setting('data_directory') as folder`);
    expect(existsSync(String(folder))).toBe(true);
    child.kill(signal);
    await vi.waitFor(() => expect(existsSync(String(folder))).toBe(false), { timeout: 10_000 });
    await expect(connect(String(url))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  },
);

it('a PostgreSQL server keeps what was committed when it is restarted, and when it crashes', async () => {
  const server = await startPostgres({});
  await query(server.url, 'create table kept (a int)');
  await server.restart();
  await query(server.url, 'insert into kept values (1)');
  await server.crash();
  expect(await query(server.url, 'select a from kept')).toEqual([{ a: 1 }]);
  await server.stop();
  await expect(connect(server.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('a PostgreSQL server that cannot start says why in one line, and how to name another', async () => {
  const failed = await startPostgres({ no_such_setting: 1 }).catch((error: Error) => error);
  expect(failed).toBeInstanceOf(PostgresUnavailable);
  expect((failed as Error).message).toMatch(
    /^PostgreSQL cannot start: .*no_such_setting.*; .* LKM_TEST_POSTGRES=postgres:\/\/\S+$/,
  );
});

it('a PostgreSQL server of LKM_TEST_POSTGRES that cannot be used is told in one line, without its password', async () => {
  vi.stubEnv('LKM_TEST_POSTGRES', 'postgres://ada:s3cret@127.0.0.1:1/postgres');
  const failed = await openPostgres({}).catch((error: Error) => error);
  expect(failed).toBeInstanceOf(PostgresUnavailable);
  expect((failed as Error).message).toMatch(/^the server of LKM_TEST_POSTGRES cannot be used: .*ECONNREFUSED.*$/);
  expect((failed as Error).message).not.toContain('s3cret');
});
