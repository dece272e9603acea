import type { Io } from '../io.ts';

/** Whether the command runs through `npx lkm`, and is not on the path. */
const isThroughNpm = ({ npm_command }: Io['env']): boolean => npm_command === 'exec';

/** A command line inside a text: the name, and the first word of a command or an option. */
const commandLine =
  /(?<![\w./-])lkm(?= (?:-|(?:quickstart|serve|keys|customers|products|tokens|db|idempotency|version|help)\b))/g;

/** A text with the command lines in it as they are typed here: `npx lkm keys get`. */
export const asTyped = (text: string, env: Io['env']): string =>
  isThroughNpm(env) ? text.replaceAll(commandLine, 'npx lkm') : text;
