import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

type Env = Readonly<Record<string, string>>;

/** A program on a real terminal of 100 columns and 40 lines, unless given, which the program `script` makes. */
export class Terminal implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #output = new EventEmitter();
  #shown = '';

  constructor(
    command: string,
    { cwd, env, size = 'cols 100 rows 40' }: { readonly cwd: string; readonly env: Env; readonly size?: string },
  ) {
    const line = `stty ${size}; exec ${command}`;
    this.#child = spawn('script', ['-qfec', line, '/dev/null'], { cwd, env: { TERM: 'xterm', ...env } });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#shown += text;
        this.#output.emit('shown');
      });
    }
  }

  /** What was shown since the last call of `type`, without what moves and colours. */
  get shown(): string {
    return stripVTControlCharacters(this.#shown).replaceAll(/\r(?!\n)/g, '');
  }

  /** The same with everything that moves and colours. */
  get raw(): string {
    return this.#shown;
  }

  /** Types a text. */
  type(text: string): void {
    this.#shown = '';
    this.#child.stdin.write(text);
  }

  /** Waits until this is shown; fails with what is shown instead after a minute. */
  async until(expected: RegExp): Promise<string> {
    const signal = AbortSignal.timeout(60_000);
    while (!expected.test(this.shown)) {
      await once(this.#output, 'shown', { signal }).catch(() => {
        throw new Error(`${expected} was never shown, but:\n${JSON.stringify(this.shown)}`);
      });
    }
    return this.shown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** Whether a program is on the path. */
export const hasProgram = (name: string): boolean => spawnSync('which', [name]).status === 0;
