import { registerHooks } from 'node:module';
import { replaceInSql, type Sabotage, sabotages } from './sabotages.ts';
import type { ServerSetup } from './stage.ts';

// A server under test: as `lkm serve` runs it, or with one protection taken away. It ends with its parent.

type Given = { db: string; without: Sabotage | null; setup: ServerSetup };
const { db, without, setup } = JSON.parse(process.argv[2] ?? '{}') as Given;
process.stdin.on('end', () => process.exit()).resume();

const sabotage = without === null ? null : sabotages[without];
sabotage?.drivers?.();
if (setup.walPages !== undefined) replaceInSql(/wal_autocheckpoint=\d+/, `wal_autocheckpoint=${setup.walPages}`);
if (sabotage?.createExactlyOnce) {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isReplaced =
        found.url.endsWith('/src/server/idempotency/exactly-once.ts') && context.parentURL?.includes('/src/');
      return isReplaced ? { ...found, url: new URL('replaced.ts', import.meta.url).href } : found;
    },
  });
}
const { startServer } = await import('../src/server/serve.ts');
const { url } = await startServer({
  ...{ host: '127.0.0.1', port: 0, db, rateLimit: null },
  ...(setup.webhooks && { webhooks: { allowPrivate: true, ...setup.webhooks, ...sabotage?.webhooks } }),
  logFormat: 'none',
  logTo: { write: () => {} },
});
process.stdout.write(`${JSON.stringify({ url })}\n`);
