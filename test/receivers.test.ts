import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mintWebhookSecret, signedHeaders } from '../src/domain/webhooks/signature.ts';

const secret = mintWebhookSecret(new Uint8Array(32).fill(7));
const other = mintWebhookSecret(new Uint8Array(32).fill(8));
const root = join(import.meta.dirname, '..');

const receivers = [
  ['express.ts', process.execPath],
  ['fastify.ts', process.execPath],
  ['hono.ts', process.execPath],
  ['receiver.py', python()],
] as const;

/** The name of Python here; null where there is none. */
function python(): string | null {
  try {
    execFileSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 8)'], { stdio: 'ignore' });
    return 'python3';
  } catch {
    return null;
  }
}

/** Starts a receiver on a free port; resolves with its address and what it prints. */
async function start(file: string, program: string) {
  const child: ChildProcess = spawn(program, [join(root, 'examples/webhooks', file)], {
    env: { ...process.env, LKM_WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout === null) throw new Error('it has no stdout');
  const lines: string[] = [];
  const reader = createInterface(child.stdout);
  let text = '';
  while (!/port'?: (\d+)/.test(text)) text += (await once(reader, 'line'))[0];
  reader.on('line', (line) => lines.push(line));
  return { url: `http://127.0.0.1:${/port'?: (\d+)/.exec(text)?.[1]}/hook`, lines };
}

describe.each(receivers)('examples/webhooks/%s', (file, program) => {
  it.skipIf(program === null)('takes what is signed, and refuses everything else', async () => {
    const { url, lines } = await start(file, program ?? '');
    const body = JSON.stringify({ id: 'evt_1', seq: 7, type: 'license.created', data: { note: 'Zoë' } });
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = signedHeaders({ id: 'evt_1', timestamp, body }, [other, secret]);
    const post = async (changes: { headers?: Record<string, string>; body?: string } = {}) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers, ...changes.headers },
        body: changes.body ?? body,
      });
      return response.status;
    };
    expect(await post()).toBe(204);
    await expect.poll(() => lines).toEqual(['7 license.created evt_1']);

    const old = signedHeaders({ id: 'evt_1', timestamp: timestamp - 400, body }, [secret]);
    expect(await post({ body: body.replace('7', '8') })).toBe(401);
    expect(await post({ headers: { 'webhook-id': 'evt_2' } })).toBe(401);
    expect(await post({ headers: { 'webhook-signature': 'v1,' } })).toBe(401);
    expect(await post({ headers: signedHeaders({ id: 'evt_1', timestamp, body }, [other]) })).toBe(401);
    expect(await post({ headers: old })).toBe(401);
    expect(lines).toHaveLength(1);
  });
});
