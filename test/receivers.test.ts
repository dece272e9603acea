import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
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
    // While two secrets sign, the receiver may know either.
    expect(await post({ headers: signedHeaders({ id: 'evt_1', timestamp, body }, [secret, other]) })).toBe(204);

    const old = signedHeaders({ id: 'evt_1', timestamp: timestamp - 400, body }, [secret]);
    expect(await post({ body: body.replace('7', '8') })).toBe(401);
    expect(await post({ headers: { 'webhook-id': 'evt_2' } })).toBe(401);
    expect(await post({ headers: { 'webhook-signature': 'v1,' } })).toBe(401);
    expect(await post({ headers: signedHeaders({ id: 'evt_1', timestamp, body }, [other]) })).toBe(401);
    expect(await post({ headers: old })).toBe(401);
    expect(new Set(lines)).toEqual(new Set(['7 license.created evt_1']));
  });
});

/** The timestamped header as it is sent while two secrets sign, the new one first. */
function headerOfOverlap() {
  const [timestamp, body] = [1_800_000_000, '{"seq":7}'];
  const headers = signedHeaders({ id: 'evt_1', timestamp, body }, [other, secret], { signatures: ['timestamped'] });
  const pairs = (headers['LKM-Signature'] ?? '').split(',').map((pair) => pair.split('=') as [string, string]);
  const madeBy = (key: string) => createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
  return { pairs, old: madeBy(secret), new: madeBy(other) };
}

describe('a receiver that keeps one v1 of the timestamped header', () => {
  it('accepts the new secret if it keeps the first', () => {
    const header = headerOfOverlap();
    expect(header.pairs.find(([name]) => name === 'v1')?.[1]).toBe(header.new);
  });

  it('accepts the old secret if it keeps the last, as a map of the pairs does', () => {
    const header = headerOfOverlap();
    expect(new Map(header.pairs).get('v1')).toBe(header.old);
  });
});
