import { readFileSync } from 'node:fs';
import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import type { WriteStream } from 'node:tty';
import type { Io, Output } from './io.ts';
import { terminalPrompter } from './prompts/prompt.ts';
import { run } from './run.ts';

const FALLBACK_COLUMNS = 80;

process.exitCode = await run(process.argv.slice(2), systemIo());

function systemIo(): Io {
  return {
    // Touched late: opening stdin takes time that most commands need not spend.
    get stdin() {
      return { isTTY: process.stdin.isTTY === true, readText: readStdin };
    },
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    tempDir: tmpdir(),
    platform: process.platform,
    nodeVersion: process.versions.node,
    pid: process.pid,
    get user() {
      return userName();
    },
    get host() {
      return hostname();
    },
    processStartTime,
    now: Date.now,
    uuid: () => crypto.randomUUID(),
    stop: stopSignal(),
    get prompter() {
      return terminalPrompter(process.stdin, process.stderr);
    },
  };
}

async function readStdin(): Promise<string> {
  const { text } = await import('node:stream/consumers');
  return text(process.stdin);
}

/** A reader that is gone (`lkm … | head -1`) is not an error, nor are messages that cannot be written to stderr. */
function outputOf(stream: WriteStream & { fd: number }): Output {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && stream !== process.stderr) throw error;
  });
  return {
    isTTY: stream.isTTY === true,
    columns: stream.columns ?? FALLBACK_COLUMNS,
    fd: stream.fd,
    write: (text) => new Promise((resolve) => stream.write(text, () => resolve())),
  };
}

/** A container may run as a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** On Linux the tick at which the process began; a process that is dead and not yet buried does not run. */
function processStartTime(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return null;
  }
  try {
    // The fields after the name, which may hold anything: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    const [state = '', ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return state === 'Z' || state === 'X' ? null : (fields[18] ?? '');
  } catch {
    return '';
  }
}

/** The first signal asks the command to stop, the second one does not ask. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      controller.abort(signal);
      process.once(signal, () => process.exit(signal === 'SIGINT' ? 130 : 143));
    });
  }
  return controller.signal;
}
