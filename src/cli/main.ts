import { homedir, hostname, tmpdir, userInfo } from 'node:os';
import { isatty } from 'node:tty';
import type { Io } from './io.ts';
import { outputOf } from './output/standard-output.ts';
import { terminalPrompter } from './prompts/prompt.ts';
import { run } from './run.ts';

/** Set by the build from package.json. */
declare const LKM_VERSION: string;

void run(process.argv.slice(2), systemIo()).then((code) => {
  process.exitCode = code;
});

function systemIo(): Io {
  const signals = watchSignals();
  return {
    // Without `process.stdin`: opening it takes time that most commands need not spend.
    get stdin() {
      return { isTTY: isatty(0), readText: readStdin, chunks: () => process.stdin };
    },
    stdout: outputOf(1, () => process.stdout, { reports: true }),
    // Messages are best effort: a log disk that is full ends no command and no server.
    stderr: outputOf(2, () => process.stderr, { reports: false }),
    env: process.env,
    cwd: process.cwd(),
    // An empty HOME names no folder.
    home: homedir() || userInfo().homedir,
    tempDir: tmpdir(),
    platform: process.platform,
    nodeVersion: process.versions.node,
    version: typeof LKM_VERSION === 'undefined' ? '0.0.0-dev' : LKM_VERSION,
    pid: process.pid,
    get user() {
      return userName();
    },
    uid: process.getuid?.() ?? null,
    get host() {
      return hostname();
    },
    now: Date.now,
    uuid: () => crypto.randomUUID(),
    stop: signals.stop,
    runPager: (program, text) =>
      signals.lendTerminalTo(async () => (await import('./output/pager.ts')).runPager(program, text, process.env)),
    onHangup: (listener) => {
      process.on('SIGHUP', listener);
      return () => void process.off('SIGHUP', listener);
    },
    get prompter() {
      return terminalPrompter(process.stdin, process.stderr);
    },
  };
}

async function readStdin(): Promise<string> {
  const { text } = await import('node:stream/consumers');
  return text(process.stdin);
}

/** A container may run as a number that has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** The first signal lets the command stop by itself; the second one ends the process. */
function watchSignals() {
  const controller = new AbortController();
  let isTerminalLent = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (isTerminalLent && signal === 'SIGINT') return;
      if (controller.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143);
      controller.abort(signal);
    });
  }
  return {
    stop: controller.signal,
    /** Ctrl-C is for the program that has the terminal meanwhile. */
    lendTerminalTo: async <T>(work: () => Promise<T>): Promise<T> => {
      isTerminalLent = true;
      return work().finally(() => {
        isTerminalLent = false;
      });
    },
  };
}
