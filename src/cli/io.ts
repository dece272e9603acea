import type { Timing } from '../client/timing.ts';
import type { Fetch } from '../contract/endpoint.ts';
import type { Prompter } from './prompts/prompt.ts';

export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  /** The file descriptor, where there is one: a server writes its log to it directly. */
  readonly fd?: number;
  /**
   * Resolves to whether the system took the text: false when the reader has closed the pipe. Text that a pipe has taken
   * counts as read. On stdout it rejects with the system's error (`ENOSPC`, `EIO`, `EBADF`), on stderr never.
   */
  write(text: string): Promise<boolean>;
}

export interface Input {
  readonly isTTY: boolean;
  chunks(): AsyncIterable<Uint8Array>;
}

/** Everything outside the command: streams, environment, clock, network. Tests replace all of it. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Null where the system knows no home folder, as for a numeric user in a container. */
  readonly home: string | null;
  readonly tempDir: string;
  readonly platform: string;
  readonly nodeVersion: string;
  readonly version: string;
  readonly pid: number;
  isRunning(pid: number): boolean;
  /** `uid` is null on Windows. */
  readonly user: string;
  readonly uid: number | null;
  /** The ids of all groups of the process; empty on Windows. */
  readonly groups: readonly number[];
  /** The bits of the mode that new files do not get. */
  readonly umask: number;
  readonly host: string;
  now(): number;
  uuid(): string;
  /** Aborted by SIGINT or SIGTERM; the reason is the name of the signal. */
  readonly stop: AbortSignal;
  /** Calls `listener` at each SIGHUP, until the returned function is called. */
  onHangup(listener: () => void): () => void;
  prompter(how: { readonly accessible: boolean }): Prompter;
  readonly fetch?: Fetch | undefined;
  /** Clock, delays and random numbers of the client; default: the system's. */
  readonly timing?: Timing | undefined;
}
