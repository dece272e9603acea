import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a command has shown in a terminal, and how it ended. */
export interface Shown {
  /** The lines as they were written: those that the terminal has wrapped are whole. */
  readonly text: string;
  readonly exitCode: number;
}

/** A question, what is typed, and what is shown then, before Enter. */
export type Asked = readonly [question: RegExp, answer: string, chosen?: RegExp | undefined];

/** A shell in a real terminal of 80 columns, which tmux makes. */
export class Tmux implements Disposable {
  readonly #socket: string;
  #commands = 1;

  constructor(home: string, env: Readonly<Record<string, string>>) {
    this.#socket = join(home, 'tmux');
    const startup = join(home, 'shell');
    // The number of the command and the exit code of the last one.
    writeFileSync(startup, `PS1='[\\#:$?]$ '; bind 'set enable-bracketed-paste off' 2> /dev/null\n`);
    const variables = Object.entries({ HOME: home, LANG: 'C.UTF-8', TERM: 'screen', ...env });
    const words = variables.map(([name, value]) => `${name}=${value}`);
    this.#run(
      'new-session',
      '-d',
      '-x',
      '80',
      '-y',
      '50',
      '-c',
      home,
      'env',
      '-i',
      ...words,
      'bash',
      '--rcfile',
      startup,
    );
    this.#run('set-option', '-g', 'history-limit', '20000');
  }

  /** Waits for the first prompt. */
  ready(): Promise<unknown> {
    return this.until(/^\[1:0\]\$ ?$/m);
  }

  /** Types a line, and the answers to what is then asked; resolves when the prompt is there again. */
  async run(line: string, asked: readonly Asked[] = []): Promise<Shown> {
    this.type(line);
    this.press('Enter');
    for (const [question, answer, chosen = question] of asked) {
      await this.until(question);
      this.type(answer);
      await this.until(chosen);
      this.press('Enter');
    }
    return this.ended();
  }

  /** Waits until the command has ended. */
  async ended(): Promise<Shown> {
    const next = this.#commands + 1;
    const [, exitCode] = await this.until(new RegExp(`^\\[${next}:(\\d+)\\]\\$ ?$`, 'm'));
    const text = this.#shownSince();
    this.#commands = next;
    return { text: text.slice(0, text.lastIndexOf(`[${next}:`)), exitCode: Number(exitCode) };
  }

  /** Types a text as a person would, without Enter. */
  type(text: string): void {
    if (text !== '') this.#run('send-keys', '-l', '--', text);
  }

  press(key: string): void {
    this.#run('send-keys', key);
  }

  /** Waits until the command has shown this; throws after half a minute. */
  async until(expected: RegExp): Promise<RegExpExecArray> {
    for (let looks = 0; looks < 1_000; looks++) {
      const found = expected.exec(this.#shownSince());
      if (found) return found;
      await sleep(30);
    }
    throw new Error(`${expected} was never shown, but:\n${this.#shownSince()}`);
  }

  /** What was shown from the prompt of this command on. */
  #shownSince(): string {
    const all = this.#run('capture-pane', '-p', '-J', '-S', '-');
    const lines = all.split('\n').map((one) => one.trimEnd());
    const start = lines.findIndex((one) => one.startsWith(`[${this.#commands}:`));
    return lines.slice(Math.max(0, start)).join('\n');
  }

  #run(...words: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, '-f', '/dev/null', ...words], { encoding: 'utf8' });
  }

  [Symbol.dispose](): void {
    spawnSync('tmux', ['-S', this.#socket, 'kill-server']);
  }
}
