import { rootHelp } from './help/root.ts';
import { helpView } from './help/section.ts';
import type { Io } from './io.ts';
import { version } from './version.ts';

/** The answer to the command lines that are typed most and need nothing but metadata: loading more takes longer. */
export function shortcut(argv: readonly string[], io: Pick<Io, 'env' | 'stdout'>): string | null {
  const [word, ...others] = argv;
  if (others.length > 0) return null;
  if (word === '--version' || word === '-V') return `${version}\n`;
  const isHelp = word === undefined || word === '--help' || word === '-h' || word === 'help';
  return isHelp ? rootHelp(helpView(argv, io)) : null;
}
