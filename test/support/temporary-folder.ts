import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Gives the run a temporary folder of its own, and removes it with whatever the tests left there. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'lkm-run-'));
  chmodSync(folder, 0o711); // a test may start a program as another user
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
