import type { Timing } from '../client/timing.ts';
import type { Fetch } from '../contract/endpoint.ts';
import type { Prompter } from './prompts/prompt.ts';

/** Where text goes: stdout or stderr. */
export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  /** The file descriptor behind it, where there is one: the log of a server is written to it directly. */
  readonly fd?: number;
  /**
   * Resolves to whether the system took the text: false when the reader has closed the pipe. What a pipe has taken
   * counts as read. On stdout it rejects with the system's error (`ENOSPC`, `EIO`, `EBADF`); on stderr never.
   */
  write(text: string): Promise<boolean>;
}

/** Where text comes from: stdin. */
export interface Input {
  readonly isTTY: boolean;
  readText(): Promise<string>;
}

/** All that a command can touch outside itself, so that a test can be all of it. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly tempDir: string;
  readonly platform: string;
  readonly nodeVersion: string;
  /** Of lkm. */
  readonly version: string;
  readonly pid: number;
  /** The name of the user who runs the command, and their number; null on Windows. */
  readonly user: string;
  readonly uid: number | null;
  /** The name of this machine. */
  readonly host: string;
  /**
   * What tells a process from a later one with the same pid, in visible ASCII without dots; empty where the system
   * does not say, null when no such process runs.
   */
  processStartTime(pid: number): string | null;
  now(): number;
  uuid(): string;
  /** Aborted when the process gets SIGINT or SIGTERM; the reason is the name of the signal. */
  readonly stop: AbortSignal;
  readonly prompter: Prompter;
  /** The network; not given, the client's own. */
  readonly fetch?: Fetch | undefined;
  /** The time between attempts; not given, the client's own. */
  readonly timing?: Timing | undefined;
}
