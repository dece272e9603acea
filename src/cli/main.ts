import { homedir, tmpdir } from 'node:os';
import type { WriteStream } from 'node:tty';
import type { Io, Output } from './io.ts';
import { terminalPrompter } from './prompt.ts';
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

/** A reader that is gone (`lkm … | head -1`) is not an error: what is left has nowhere to go. */
function outputOf(stream: WriteStream): Output {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return {
    isTTY: stream.isTTY === true,
    columns: stream.columns ?? FALLBACK_COLUMNS,
    write: (text) => new Promise((resolve) => stream.write(text, () => resolve())),
  };
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
