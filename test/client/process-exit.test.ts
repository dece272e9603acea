import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { issued, productId } from './examples.ts';
import { serve } from './loopback.ts';

const clientPath = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

const input = JSON.stringify({ productId });

/** What a program with a client prints. */
async function outputOf(program: string): Promise<string> {
  const baseUrl = await serve((_request, response) => response.end(JSON.stringify(issued)));
  const script = `
    import { createClient } from ${JSON.stringify(clientPath)};
    const client = createClient({ baseUrl: ${JSON.stringify(baseUrl)} });
    ${program}
  `;
  return (await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])).stdout;
}

test('a script ends within a second of its last call, with its connection still open', async () => {
  const elapsed = await outputOf(`
    await client.keys.create(${input});
    const doneAt = performance.now();
    process.on('exit', () => console.log(performance.now() - doneAt));
  `);
  expect(Number(elapsed)).toBeLessThan(1_000);
});

/** What Node.js has of its own is loaded when it is used; `fetch` and WebSockets take longer than a request. */
test.each([
  ['no call does not load HTTP', '', ['_http_client', 'internal/deps/undici/undici']],
  ['a call does not load WebSockets', `await client.keys.create(${input});`, ['internal/deps/undici/undici']],
])('a script that makes %s', async (_title, call, parts) => {
  const loaded = await outputOf(`
    ${call}
    const loaded = process.moduleLoadList.map((name) => name.replace('NativeModule ', ''));
    console.log(${JSON.stringify(parts)}.filter((part) => loaded.includes(part)).join());
  `);
  expect(loaded).toBe('\n');
});
