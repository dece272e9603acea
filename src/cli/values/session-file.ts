import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { SessionKeys } from '../../client/with-session.ts';
import { argument } from '../command.ts';
import { ofForm, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { type Destination, openDestination } from '../output/destination.ts';
import { unwritable } from '../output/standard-output.ts';
import { readText } from './files.ts';

/** The file keeps the secret of the session out of the shell's history. */
export const sessionFileArgument = argument('<FILE>', 'the file of keys checkout --json -o FILE, - for stdin');

const SessionFile = z.looseObject({
  productId: z.string(),
  licenseKey: z.string(),
  sessionId: z.string(),
  sessionSecret: z.string(),
  nextNonce: z.string(),
});

export interface FiledSession extends SessionKeys {
  readonly productId: string;
  readonly licenseKey: string;
  /** Checks that the session can be written back, before a request is sent. Throws `LocalError`. */
  prepareUpdate(): Promise<Pick<Destination, 'discard'> & { readonly write: WriteSession }>;
}

/** Writes the changed session back; does nothing for stdin or another pipe. */
type WriteSession = (changes: { readonly nextNonce: string; readonly expiresAt: string }) => Promise<void>;

/** Throws `LocalError` if the file holds no session. */
export async function readSession(path: string, io: Io): Promise<FiledSession> {
  if (/^ses_\w+$/.test(path)) {
    throw new UsageError(`${path} is the id of a session, and this takes the file with its secret`, [
      ['The file:', 'lkm keys checkout KEY --json -o session.json wrote it'],
      ['To end it by its id:', `lkm sessions release ${path}`],
    ]);
  }
  const session = parseSession(await readText(path, io), path);
  return {
    ...session,
    prepareUpdate: async () => {
      const full = resolve(io.cwd, path);
      if (path === '-' || !statSync(full).isFile()) return { write: async () => {}, discard: () => {} };
      // The file behind a link is replaced.
      const destination = openDestination(realpathSync(full), true, io);
      const write: WriteSession = async (changes) => {
        const text = `${JSON.stringify({ ...session, ...changes }, null, 2)}\n`;
        await destination.write(text, { secret: true }).catch((cause: unknown) => {
          const hint = 'The session was prolonged. Repeat the command soon: the nonce in the file is taken once more.';
          throw unwritable(path, cause, { hints: [hint] });
        });
      };
      return { write, discard: destination.discard };
    },
  };
}

const parseSession = (text: string, path: string): z.output<typeof SessionFile> =>
  ofForm(
    `${path === '-' ? 'stdin' : path} holds no session`,
    [['Make one:', 'lkm keys checkout KEY --json -o session.json']],
    () => SessionFile.parse(JSON.parse(text)),
  );
