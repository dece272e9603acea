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
    const kill = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {} // it has ended by itself
    };
    process.once('exit', kill);
    let output = '';
    let isLate = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = `${output}${chunk}`.slice(-20_000);
      });
    }
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, timeoutMs);
    child.on('close', (status) => {
      clearTimeout(timer);
      process.off('exit', kill);
      resolve({ status: isLate ? null : (status ?? 1), output, ms: performance.now() - start });
    });
  });
}
