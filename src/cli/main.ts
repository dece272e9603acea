import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';
import { isatty } from 'node:tty';
import type { Io } from './io.ts';
import { outputOf } from './output/standard-output.ts';
import { linePrompter } from './prompts/lines.ts';
import { terminalPrompter } from './prompts/prompt.ts';
import { run } from './run.ts';

/** Set by the build from package.json. */
declare const LKM_VERSION: string;

const signals = watchSignals();
void run(process.argv.slice(2), systemIo()).then((code) => {
  process.exitCode = code;
  signals.endSoon();
});

function systemIo(): Io {
  return {
    // Not `process.stdin`: opening it takes time that most commands do not need to spend.
    get stdin() {
      return { isTTY: isatty(0), chunks: () => process.stdin };
    },
    stdout: outputOf(1, () => process.stdout, { reports: true }),
    // Messages are best effort: a log disk that is full ends no command and no server.
    stderr: outputOf(2, () => process.stderr, { reports: false }),
    env: process.env,
    cwd: process.cwd(),
    home: homeFolder(),
    tempDir: tmpdir(),
    platform: process.platform,
    nodeVersion: process.versions.node,
    version: typeof LKM_VERSION === 'undefined' ? '0.0.0-dev' : LKM_VERSION,
    pid: process.pid,
    isRunning,
    get user() {
      return userName();
    },
    uid: process.getuid?.() ?? null,
    umask: process.umask(),
    groups: [...(process.getegid ? [process.getegid()] : []), ...(process.getgroups?.() ?? [])],
    get host() {
      return hostname();
    },
    now: Date.now,
    uuid: () => crypto.randomUUID(),
    stop: signals.stop,
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
      return () => void process.off('SIGHUP', listener);
    },
    prompter: ({ accessible }) =>
      accessible
        ? linePrompter({ input: process.stdin, output: process.stderr }, signals.stop)
        : terminalPrompter(process.stdin, process.stderr),
  };
}

/** An empty or relative HOME names no folder. Both functions throw for a user id without a name. */
function homeFolder(): string | null {
  for (const find of [homedir, () => userInfo().homedir]) {
    try {
      const folder = find();
      if (isAbsolute(folder)) return folder;
    } catch {
      // Try the next source.
    }
  }
  return null;
}

/** A container may run under a user id without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** How long sockets and timers may stay open after a stopped command has ended. */
const END_WITHIN_MS = 1_000;

/** The first signal asks the command to stop; the second signal ends the process. */
function watchSignals() {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) endBy(signal);
      controller.abort(signal);
    });
  }
  return {
    stop: controller.signal,
    /** Called when the command has ended: after a signal, open sockets must not keep the process alive. */
    endSoon: () => {
      const { aborted, reason } = controller.signal;
      if (aborted) setTimeout(() => endBy(reason), END_WITHIN_MS).unref();
    },
  };
}

/** Ends the process immediately. `process.exit` would wait for a DNS look-up, which cannot be cancelled. */
function endBy(signal: 'SIGINT' | 'SIGTERM'): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
