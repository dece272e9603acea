import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tempFolder } from './fake-io.ts';

const root = join(import.meta.dirname, '../..');
const main = join(root, 'src/cli/main.ts');
const env = { PATH: process.env.PATH, HOME: tempFolder() };
const node = (args: readonly string[]) => promisify(execFile)(process.execPath, args, { env });

describe('start-up', () => {
  it('refuses an old Node.js with a sentence to act on', async () => {
    const pretend = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
    const ran = node(['--import', `data:text/javascript,${pretend}`, join(root, 'bin/lkm.js')]);
    await expect(ran).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'lkm needs Node.js 24.15 or newer; this is v20.20.2. ' +
        'Install it, or run it through npm in the checkout: npx lkm\n',
    });
  });

  it('ends quietly when its reader is gone', async () => {
    const script = `"${process.execPath}" "${main}" help formatting | true; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { env });
    expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
  });
});
