import type { ParsedCommand } from './command.ts';
import type { Settings } from './config/settings.ts';
import type { OpenedContext } from './context.ts';
import type { Io } from './io.ts';
import type { Destination } from './output/destination.ts';

/** The progress of a command line, from which errors are explained. */
export interface RunState {
  /** Includes the words of values that were picked. */
  argv: readonly string[];
  io: Io;
  parsed?: ParsedCommand;
  settings?: Settings;
  context?: OpenedContext;
  destination?: Destination | null;
}
