import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../src/index.ts';
import { startServer } from '../src/server/serve.ts';

/** How long one command takes for many changes: it has to grow with their number, and no faster. */
const counts = [200, 800, 3_200];

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
    for (let at = 0; at < count; at++) ids.push((await client.customers.create({ name: `Customer ${at}` })).id);
    const startedAt = performance.now();
    const child = spawn(process.execPath, ['bin/lkm.js', 'customers', 'delete', ...ids, '-y'], {
      env: { ...process.env, LKM_BASE_URL: server.url, LKM_TOKEN: token, LKM_STATE_DIR: join(folder, 'state') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let messages = '';
    child.stderr.on('data', (text) => {
      messages += text;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`ended with ${code}: ${messages.slice(-500)}`);
    const ms = performance.now() - startedAt;
    process.stdout.write(
      `${count} deletes in one command: ${(ms / 1_000).toFixed(1)} s, ${(ms / count).toFixed(2)} ms each\n`,
    );
  }
} finally {
  await server.close();
  rmSync(folder, { recursive: true });
}
