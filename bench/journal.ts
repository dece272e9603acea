import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../src/index.ts';
import { startServer } from '../src/server/serve.ts';

// How long one command takes for many changes: it has to grow with their number, and no faster.
//
//   npm run bench:journal                  200, 800 and 3 200 customers deleted in one command
//   npm run bench:journal -- 1000 10000    1 000 and 10 000 instead
//
// A command that takes longer than three minutes is ended, and the run fails.

const given = process.argv.slice(2).map(Number);
const counts = given.length > 0 ? given : [200, 800, 3_200];
const MAX_COMMAND_MS = 180_000;

/** Customers that are created at once. */
const BATCH_SIZE = 100;

const folder = mkdtempSync(join(tmpdir(), 'lkm-bench-journal-'));
const server = await startServer({
  db: join(folder, 'lkm.db'),
  host: '127.0.0.1',
  port: 0,
  logFormat: 'none',
  logTo: { write: () => {} },
  rateLimit: null,
});
const token = server.created?.adminToken ?? '';
const client = createClient({ baseUrl: server.url, token });

try {
  for (const count of counts) {
    const ids: string[] = [];
    while (ids.length < count) {
      const batch = Array.from({ length: Math.min(BATCH_SIZE, count - ids.length) }, (_, at) =>
        client.customers.create({ name: `Customer ${ids.length + at}` }),
      );
      for (const { id } of await Promise.all(batch)) ids.push(id);
    }
    const startedAt = performance.now();
    const child = spawn(process.execPath, ['bin/lkm.js', 'customers', 'delete', ...ids, '-y'], {
      env: { ...process.env, LKM_BASE_URL: server.url, LKM_TOKEN: token, LKM_STATE_DIR: join(folder, 'state') },
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: MAX_COMMAND_MS,
    });
    let messages = '';
    child.stderr.on('data', (text) => {
      messages += text;
    });
    const [code, signal] = await once(child, 'close');
    if (code !== 0) throw new Error(`ended with ${code ?? signal}: ${messages.slice(-500)}`);
    const ms = performance.now() - startedAt;
    process.stdout.write(
      `${count} deletes in one command: ${(ms / 1_000).toFixed(1)} s, ${(ms / count).toFixed(2)} ms each\n`,
    );
  }
} finally {
  await server.close();
  rmSync(folder, { recursive: true });
}
