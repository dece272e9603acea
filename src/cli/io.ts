import type { Timing } from '../client/timing.ts';
import type { Fetch } from '../contract/endpoint.ts';
import type { Prompter } from './prompts/prompt.ts';

export interface Output {
  readonly isTTY: boolean;
  readonly columns: number;
  /** The file descriptor behind it, where there is one: the log of a server is written to it directly. */
  readonly fd?: number;
  /**
   * Resolves to whether the system took the text: false when the reader has closed the pipe. Text that a pipe has
   * taken counts as read. On stdout it rejects with the system's error (`ENOSPC`, `EIO`, `EBADF`); on stderr never.
   */
  write(text: string): Promise<boolean>;
}

export interface Input {
  readonly isTTY: boolean;
  /** Its bytes as they come. */
  chunks(): AsyncIterable<Uint8Array>;
}

/** Everything outside the command that it uses: streams, environment, clock, network. Tests replace all of it. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Null where the system knows none, as for a number without a name in a container. */
  readonly home: string | null;
  readonly tempDir: string;
  readonly platform: string;
  readonly nodeVersion: string;
  readonly version: string;
  readonly pid: number;
  /** Whether a process with this number runs. */
  isRunning(pid: number): boolean;
  /** The name of the user who runs the command, and their number; null on Windows. */
  readonly user: string;
  readonly uid: number | null;
  /** The numbers of all groups of the process; empty on Windows. */
  readonly groups: readonly number[];
  readonly host: string;
  now(): number;
  uuid(): string;
  /** Aborted when the process gets SIGINT or SIGTERM; the reason is the name of the signal. */
  readonly stop: AbortSignal;
  /** Calls `listener` each time the process gets SIGHUP, until the function that it returns is called. */
  onHangup(listener: () => void): () => void;
  prompter(how: { readonly accessible: boolean }): Prompter;
  readonly fetch?: Fetch | undefined;
  /** Clock, delays and random numbers of the client; its own unless given. */
  readonly timing?: Timing | undefined;
}
