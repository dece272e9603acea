import { closeSync, openSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { selfSigned } from '../test/support/certificates.ts';
import { replaceInSql, type Sabotage, sabotages } from './sabotages.ts';
import type { ServerSetup } from './stage.ts';

// A server under test: as `lkm serve` runs it, or with one protection taken away. It stops at SIGTERM, and ends with its
// parent.

const { db, without, setup } = JSON.parse(process.argv[2] ?? '{}') as {
  db: string;
  without: Sabotage | null;
  setup: ServerSetup;
};
process.stdin.on('end', () => process.exit()).resume();

const sabotage = without === null ? null : sabotages[without];
sabotage?.drivers?.();
if (setup.walPages !== undefined) replaceInSql(/wal_autocheckpoint=\d+/, `wal_autocheckpoint=${setup.walPages}`);
if (sabotage?.createExactlyOnce ?? sabotage?.openLog) {
  const replaced = /\/src\/server\/(log|idempotency\/exactly-once)\.ts$/;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const isReplaced = replaced.test(found.url) && context.parentURL?.includes('/src/');
      return isReplaced ? { ...found, url: new URL('replaced.ts', import.meta.url).href } : found;
    },
  });
}
const { createLogSink, createTestClock, startServer } = await import('../src/server/serve.ts');

const { isTls, log, walPages: _walPages, clockMs, webhooks, ...options } = { ...setup, ...sabotage?.setup };
const file = log === undefined ? null : openSync(log, 'a');
const { url, close } = await startServer({
  host: '127.0.0.1',
  port: 0,
  ...options,
  db,
  ...(clockMs !== undefined && { clock: createTestClock(clockMs) }),
  ...(isTls && { tls: selfSigned }),
  ...(setup.webhooks && { webhooks: { allowPrivate: true, ...setup.webhooks, ...webhooks } }),
  logFormat: file === null ? 'none' : 'json',
  logTo: file === null ? { write: () => {} } : createLogSink(file),
  rateLimit: null,
});
process.stdout.write(`${JSON.stringify({ url })}\n`);
process.once('SIGTERM', async () => {
  await close();
  if (file !== null) closeSync(file);
  process.exit();
});
