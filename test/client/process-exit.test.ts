import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { issued, productId } from './examples.ts';
import { serve } from './loopback.ts';

const clientPath = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

test('a script ends within a second of its last call, with its connection still open', async () => {
  const baseUrl = await serve((_request, response) => response.end(JSON.stringify(issued)));
  const script = `
    import { createClient } from ${JSON.stringify(clientPath)};
    const client = createClient({ baseUrl: ${JSON.stringify(baseUrl)} });
    await client.keys.create({ productId: ${JSON.stringify(productId)} });
    const doneAt = performance.now();
    process.on('exit', () => console.log(performance.now() - doneAt));
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(Number(stdout)).toBeLessThan(1_000);
});

test('a script that makes no call does not load undici', async () => {
  const script = `
    import { createClient } from ${JSON.stringify(clientPath)};
    createClient({ baseUrl: 'http://localhost' });
    const { createRequire } = await import('node:module');
    console.log(Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('undici')).length);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toBe('0\n');
});
