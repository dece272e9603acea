import type { ParsedCommand } from './command.ts';
import type { Settings } from './config/settings.ts';
import type { OpenedContext } from './context.ts';
import type { Io } from './io.ts';
import type { Destination } from './output/destination.ts';

/** What is known so far of the run of a command line; an error is explained by it. */
export interface RunState {
  /** With the words of the values that were picked. */
  argv: readonly string[];
  io: Io;
  parsed?: ParsedCommand;
  settings?: Settings;
  context?: OpenedContext;
  destination?: Destination | null;
}
