import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';

const OPEN = pathToFileURL(join(import.meta.dirname, '../../src/store/store.ts')).href;

/** Runs a program in a process of its own until the test ends; resolves once it has written something. */
export async function spawnProgram(program: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  await once(child.stdout, 'data');
  return child;
}

/** A process that opens the database, writes its account, and then stays; it serves at `url` if one is given. */
export function spawnOwner(db: string, url?: string): Promise<ChildProcess> {
  return spawnProgram(`
    import { openStore } from ${JSON.stringify(OPEN)};
    const store = await openStore(${JSON.stringify(db)});
    await store.transaction((rows) =>
      rows.accounts.insert({ id: 'acc_1', name: 'acme', createdAt: '2026-11-21T10:00:00.000Z' }));
    ${url === undefined ? '' : `store.publishUrl(${JSON.stringify(url)});`}
    process.stdout.write('ready');
    // Held, so that its connections are not collected, and closed.
    setInterval(() => store, 1_000);
  `);
}

/** A process that reads the database as any tool does, and keeps it open. */
export function spawnTool(db: string): Promise<ChildProcess> {
  return spawnProgram(`
    import { DatabaseSync } from 'node:sqlite';
    const database = new DatabaseSync(${JSON.stringify(db)}, { timeout: 5_000 });
    const names = database.prepare('select name from accounts').all();
    process.stdout.write(JSON.stringify(names));
    setInterval(() => database.isOpen, 1_000);
  `);
}

/** Ends a process as a power cut would, and waits until it is gone. */
export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}
