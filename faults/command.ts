import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The built command. */
export const lkm = join(import.meta.dirname, '../bin/lkm.js');

/** Runs the command to its end; resolves to what it prints. Throws when it fails. */
export async function run(argv: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [lkm, ...argv], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  if (code !== 0) throw new Error(`lkm ${argv.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

interface Serving {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly port: number;
  /** Requests a minute; the service refuses more with 429. */
  readonly rateLimit: number;
}

/** Those that run: however a run of faults ends, it leaves none behind. */
const servers = new Set<ChildProcess>();

process.once('exit', () => {
  for (const server of servers) server.kill('SIGKILL');
});

/** Starts `lkm serve` on a database; resolves once it listens. */
export async function serve(db: string, { cwd, env, port, rateLimit }: Serving): Promise<ChildProcess> {
  const options = ['--json', '--log-format', 'none', '--rate-limit', String(rateLimit)];
  const argv = ['serve', '--db', db, '--port', String(port), ...options];
  const child = spawn(process.execPath, [lkm, ...argv], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  servers.add(child);
  child.once('exit', () => servers.delete(child));
  await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'exit')]);
  if (child.exitCode !== null) throw new Error('the server did not start');
  return child;
}
