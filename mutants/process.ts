import { spawn } from 'node:child_process';

/** How a run of tests ended. */
export interface Ended {
  /** Null: it took longer than it may. */
  readonly status: number | null;
  readonly output: string;
  readonly ms: number;
}

/** Runs Vitest in a copy, and ends it with all its children when it takes too long. */
export function runVitest(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<Ended> {
  const start = performance.now();
  return new Promise((resolve) => {
    const command = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'mutants/vitest.config.ts', ...args];
    // In a group of its own, which is killed as a whole.
    const child = spawn(process.execPath, command, {
      cwd,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    let isLate = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = `${output}${chunk}`.slice(-20_000);
      });
    }
    const timer = setTimeout(() => {
      isLate = true;
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    }, timeoutMs);
    child.on('close', (status) => {
      clearTimeout(timer);
      resolve({ status: isLate ? null : (status ?? 1), output, ms: performance.now() - start });
    });
  });
}
