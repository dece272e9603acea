import { lstatSync, readdirSync } from 'node:fs';
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
  const ways = new Map([
    [SQLITE_FULL, 'make room there'],
    [SQLITE_BUSY, 'wait until the command that writes to it has ended'],
  ]);
  const way = ways.get(code ?? 0) ?? 'set LKM_STATE_DIR to a folder that can be written to';
  return new LocalError(`cannot write to ${path} (${why})`, [`${meaning} ${way}.`], { cause: error });
}

/** The journals of earlier builds are not read: what is open in them has to be finished by the build that wrote it. */
export function refuseEarlierFiles(folder: string): void {
  if (lstatSync(join(folder, STATE_FILE), { throwIfNoEntry: false }) !== undefined) return;
  for (const [name, what] of [
    ['journal/journal.jsonl', 'changes without an answer'],
    ['jobs', 'bulk runs'],
  ] as const) {
    const old = join(folder, name);
    const found = lstatSync(old, { throwIfNoEntry: false });
    if (found === undefined || (found.isDirectory() && readdirSync(old).length === 0)) continue;
    throw new LocalError(`${old} holds ${what} of an earlier lkm, which this one does not read`, [
      'Nothing was sent. Give the same commands to that lkm, so that they are finished; then move it away:',
      ['', `mv ${quote(old)} ${quote(`${old}.old`)}`],
    ]);
  }
}
