import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** A tracer that is attached to a process. */
export interface Tracer {
  /** Lets the process go; resolves when all that was written down is in the file. */
  detach(): Promise<void>;
}

/**
 * Attaches strace to every thread of a process.
 *
 * @param options such as `-e inject=fsync:error=EIO`
 */
export async function attach(pid: number, options: readonly string[]): Promise<Tracer> {
  const child = spawn('strace', ['-f', ...options, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let talk = '';
  const exited = once(child, 'close');
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      talk += chunk;
      if (talk.includes('attached')) resolve();
    });
    child.on('close', () => reject(new Error(`strace did not attach: ${talk}`)));
    child.on('error', reject);
  });
  return {
    async detach() {
      child.kill('SIGINT');
      await exited;
    },
  };
}

/** What this machine lacks for tracing; null when it can be done. */
export function lacksStrace(): string | null {
  const { status } = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' });
  return status === 0 ? null : 'strace cannot trace here';
}
