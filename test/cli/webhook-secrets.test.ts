import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../src/webhooks.ts';
import { startReceiver } from '../support/receiver.ts';
import { lkm, tempFolder } from './fake-io.ts';
import { started } from './started.ts';

/** A folder with two master keys, and lkm run there on one database under one of them. */
function inFolder() {
  const cwd = tempFolder();
  const fileOf = (name: string, byte: number) => {
    const file = join(cwd, name);
    writeFileSync(file, Buffer.alloc(32, byte).toString('base64'), { mode: 0o600 });
    return file;
  };
  const [first, second] = [fileOf('first.key', 1), fileOf('second.key', 2)];
  const db = join(cwd, 'lkm.db');
  const envOf = (file: string | null) => (file === null ? {} : { LKM_MASTER_KEY_FILE: file });
  const run = async (file: string | null, ...argv: string[]) => {
    const ran = await lkm([...argv, '--db', db], { cwd, env: envOf(file) });
    if (ran.code !== 0) throw new Error(`${argv.join(' ')}: ${ran.stderr}`);
    return ran.stdout.trim();
  };
  /** The secrets as they stand in the file. */
  const kept = () => {
    const database = new DatabaseSync(db, { readOnly: true });
    const row = database.prepare('select secret, previous_secret from webhooks').get();
    database.close();
    return [row?.secret, row?.previous_secret];
  };
  return { cwd, db, first, second, envOf, run, kept };
}

describe('the secrets of webhooks', () => {
  it('are sealed under a master key, move to another one, become plain, and go on signing', async () => {
    const { cwd, db, first, second, envOf, run, kept } = inFolder();
    await run(first, 'products', 'create', '--name', 'Editor', '--create');
    const { id, secret: old } = JSON.parse(
      await run(first, 'webhooks', 'create', '--url', 'https://shop.example.com/', '--json'),
    );
    const secret = await run(first, 'webhooks', 'rotate', id);
    const readable = [old, secret].flatMap((one) => [
      one,
      one.slice(6),
      Buffer.from(one.slice(6), 'base64').toString(),
    ]);
    const isSealed = () => kept().every((text) => readable.every((part) => !String(text).includes(part)));
    expect([isSealed(), kept().includes(null)]).toEqual([true, false]);

    const sealed = kept();
    const moved = JSON.parse(await run(first, 'db', 'rekey', '--new-key-file', second, '--json'));
    // The key that seals them is sealed anew; they are not.
    expect([moved, kept()]).toEqual([{ secrets: 'sealed', written: 0 }, sealed]);
    await expect(run(first, 'webhooks', 'list')).rejects.toThrow('is not that of this database');

    const plain = JSON.parse(await run(second, 'db', 'rekey', '--plain', '--json'));
    expect([plain, kept()]).toEqual([{ secrets: 'plain', written: 3 }, [secret, old]]);
    const again = JSON.parse(await run(null, 'db', 'rekey', '--new-key-file', second, '--json'));
    expect([again, isSealed()]).toEqual([{ secrets: 'sealed', written: 3 }, true]);

    await using receiver = await startReceiver();
    // The command refuses it: in process nothing is sent to this machine.
    const database = new DatabaseSync(db);
    database.prepare('update webhooks set url = ?').run(receiver.url);
    database.close();
    const server = await started(['--db', db, '--allow-private-webhooks'], { cwd, env: envOf(second) });
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    expect(await server.stop()).toBe(0);
    const [{ headers = {}, text = '' } = {}] = receiver.received;
    for (const one of [old, secret]) expect(verifyWebhook(headers, text, one)).toMatchObject({ resource_id: id });
  });
});
