import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fileStamp } from '../../src/domain/time.ts';
import { backUp, drill, restore } from '../../src/operator/index.ts';
import { openInstance } from '../../src/server/runtime.ts';
import { openStore } from '../../src/store/store.ts';
import { createFolder } from '../support/engines.ts';
import { startServing } from '../support/serving.ts';

const SERVERS = 4;
const BACKUPS_PER_SERVER = 3;
const WRITERS = 4;

/** A customer that the service has acknowledged, and when. */
interface Acknowledged {
  readonly id: string;
  readonly at: number;
}

const instant = (at: number) => new Date(at).toISOString() as never;

test('a backup under load holds every change acknowledged before it, whenever the server is killed', {
  timeout: 150_000,
}, async () => {
  await using folder = await createFolder();
  const db = join(folder.path, 'lkm.db');
  const scheduled = join(folder.path, 'scheduled');
  const token = await prepare(db);
  const acknowledged: Acknowledged[] = [];
  const backups: { readonly file: string; readonly began: number }[] = [];

  for (let server = 0; server < SERVERS; server += 1) {
    const serving = await startServing(db, ['--backup-every', '1s', '--backup-dir', scheduled]);
    const stopped = new AbortController();
    const writers = Array.from({ length: WRITERS }, () => write(serving.url, token, acknowledged, stopped.signal));
    for (let i = 0; i < BACKUPS_PER_SERVER; i += 1) {
      await sleep(100 + 150 * i);
      const began = Date.now();
      const file = join(folder.path, `${server}-${i}.db`);
      const taken = backUp(db, file, {});
      // The last one goes on while there is no server, or another one.
      if (i === BACKUPS_PER_SERVER - 1) await serving.kill();
      await taken;
      backups.push({ file, began });
    }
    stopped.abort();
    await Promise.all(writers);
    await serving[Symbol.asyncDispose]();
  }
  for (const name of readdirSync(scheduled).filter((one) => one.endsWith('.db'))) {
    const began = Date.parse(name.replace(/^lkm-(.+T)(\d\d)-(\d\d)-(\d\d)Z\.db$/, '$1$2:$3:$4Z'));
    backups.push({ file: join(scheduled, name), began });
  }

  expect(acknowledged.length).toBeGreaterThan(SERVERS);
  expect(backups.length).toBeGreaterThan(SERVERS * BACKUPS_PER_SERVER);
  for (const [i, { file, began }] of backups.entries()) {
    const report = await drill(file, { workPath: file, now: instant(Date.now()), masterKey: null, licenseFiles: [] });
    expect(report.problems).toEqual([]);
    const target = join(folder.path, `restored-${i}.db`);
    await restore(file, target, { replace: false, stamp: fileStamp(instant(Date.now())) });
    const there = await customersIn(target);
    expect(acknowledged.filter(({ id, at }) => at < began && !there.has(id))).toEqual([]);
  }
});

async function prepare(db: string): Promise<string> {
  const instance = await openInstance({ db });
  const response = await instance.fetch(
    new Request('http://127.0.0.1/token', {
      method: 'POST',
      headers: { authorization: `Bearer ${instance.ownerToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'load', kind: 'admin' }),
    }),
  );
  const { data } = (await response.json()) as { data: { token: string } };
  await instance.close();
  return data.token;
}

/** Creates customers one after the other until it is stopped, or the server is gone. */
async function write(url: string, token: string, acknowledged: Acknowledged[], stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      const response = await fetch(`${url}/customer`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Ada' }),
      });
      const { data } = (await response.json()) as { data: { id: string } };
      acknowledged.push({ id: data.id, at: Date.now() });
    } catch {
      return;
    }
  }
}

async function customersIn(db: string): Promise<Set<string>> {
  const store = await openStore(db);
  const ids = new Set<string>();
  const account = await store.repositories.accounts.oldest();
  if (account !== null) for await (const { id } of store.repositories.customers.list(account.id).all()) ids.add(id);
  await store.close();
  return ids;
}
