import { join } from 'node:path';
import { codeOf, LocalError } from '../failure/errors.ts';
import { quote } from '../output/words.ts';
import { SQLITE_BUSY, sqliteCode } from './lock.ts';

/** The file in the state folder. */
export const STATE_FILE = 'state.db';

const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

/** The error for a state that cannot be read or written, with the way out. */
export function stateError(error: unknown, folder: string, meaning: string): LocalError {
  const code = sqliteCode(error);
  const path = join(folder, STATE_FILE);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) {
    return new LocalError(
      `${path} is damaged`,
      [
        'Nothing was sent. Without it nobody knows which changes had no answer: look what they have done before you repeat them.',
        ['Then move it away:', `mv ${quote(path)} ${quote(`${path}.damaged`)}`],
      ],
      { cause: error },
    );
  }
  const why = code === null ? codeOf(error) : error instanceof Error ? error.message : String(error);
  const way = ways.get(code ?? 0) ?? 'set LKM_STATE_DIR to a folder that can be written to';
  return new LocalError(`cannot write to ${path} (${why})`, [`${meaning} ${way}.`], { cause: error });
}

const ways = new Map([
  [SQLITE_FULL, 'make room there'],
  [SQLITE_BUSY, 'wait until the command that writes to it has ended'],
]);
