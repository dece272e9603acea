import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../cli/fake-io.ts';

describe('NO_COLOR with FORCE_COLOR', () => {
  it.each([[{ NO_COLOR: '1', FORCE_COLOR: '1' }], [{ NO_COLOR: '', FORCE_COLOR: '1' }]])(
    '%j leaves an error in JSON alone on stderr',
    async (env) => {
      const bin = join(import.meta.dirname, '../../bin/lkm.js');
      const folder = tempFolder();
      const argv = [bin, 'customers', 'delete', 'cus_1', '--json', '--base-url', 'http://127.0.0.1:1'];
      const ran = promisify(execFile)(process.execPath, argv, {
        env: { PATH: process.env.PATH, HOME: folder, LKM_TOKEN: 't', ...env },
      });
      const { stderr } = await ran.catch((error: { stderr: string }) => error);
      expect(JSON.parse(stderr).error.exitCode).toBe(3);
    },
  );
});
