import { toInstant } from '../../../domain/time.ts';
import { readConfig } from '../../config/config-file.ts';
import { addProfile, changeProfile, profileOf } from '../../config/profiles.ts';
import type { CommandContext } from '../../context.ts';
import { LocalError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { Note } from '../../output/terminal.ts';
import { quote } from '../../output/words.ts';
import { forgetServer, recordServer } from '../../state/servers.ts';
import { datesProblem, type TlsFiles } from '../../values/tls-files.ts';
import { selfSignedFiles } from './tls.ts';

/** A server as it is shown: its database without a password. */
export interface Served {
  readonly url: string;
  readonly db: string;
  readonly secrets: string;
  readonly metricsUrl: string | null;
  readonly isNew: boolean;
  readonly created: { readonly adminToken: string } | null;
  /** Whether other servers may run on the same database: then one address does not stand for them all. */
  readonly isShared: boolean;
  /** The certificate that it has signed itself. */
  readonly ca?: string | undefined;
  readonly tls?: TlsFiles | undefined;
}

/**
 * Stores the first token of a database as a profile of its own; a known database may have moved to another port. Returns
 * how the server is reached with a token, as lines to show.
 */
export async function storeAccess({ url, db, created, isShared, ca }: Served, io: Io): Promise<readonly string[]> {
  const how = isShared ? 'with LKM_DB' : `--db ${quote(db)}, while this is stopped`;
  const instructions = [
    `  token     lkm tokens create --kind admin --name NAME ${how}`,
    '  try it    lkm -p local products list, with the token in LKM_TOKEN',
  ];
  if (created) {
    const isShown = io.stdout.isTTY && io.stderr.isTTY;
    const token = isShown ? [`  token     ${created.adminToken} (shown once)`] : [];
    try {
      const name = await addProfile(io, 'local', { baseUrl: url, token: created.adminToken, db, ca });
      return [...token, ...profileLines(name)];
    } catch (error) {
      if (!(error instanceof LocalError)) throw error;
      // The server runs all the same, as in a container whose home is read-only; more tokens can be made.
      return [`  profile   none: ${error.message}`, ...(isShown ? token : instructions)];
    }
  }
  const profile = profileOf(db, await readConfig(io));
  if (profile === undefined) return instructions;
  const isMoved = profile.baseUrl !== url || profile.ca !== ca;
  if (isMoved && isShared) return profileLines('local');
  if (isMoved) await changeProfile(io, profile.name, (stored) => ({ ...stored, baseUrl: url, ca }));
  return profileLines(profile.name);
}

const profileLines = (profile: string): readonly string[] => [
  `  profile   ${profile}`,
  `  try it    lkm -p ${profile} products list`,
];

/** Lets `-p local` find the server. */
export async function recordRunningServer(served: Served, { io, say, state, onClose }: CommandContext): Promise<void> {
  try {
    const opened = await state();
    recordServer(opened, served, io);
    onClose(async () => forgetServer(opened));
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    await say({ tone: 'warning', text: `${error.message}: -p local does not find this server` });
  }
}

export function readyNotes(served: Served, access: readonly string[], io: Io): Note[] {
  const { url, db, isNew, secrets, metricsUrl, ca, tls } = served;
  const problem = tls === undefined ? null : datesProblem(tls, io.now());
  const details = [
    `  database  ${db}${isNew ? ' (new)' : ''}`,
    ...(metricsUrl === null ? [] : [`  metrics   ${metricsUrl}`]),
    ...(ca === undefined ? [] : [`  trusted   ${selfSignedFiles(db).tlsCert}, by this profile alone`]),
    ...access,
    `  secrets   ${secrets === 'sealed' ? 'sealed under the master key' : 'plain in the database; how to seal them: lkm db rekey --help'}`,
    ...(io.stdin.isTTY ? ['  stop      ctrl-c'] : []),
  ];
  return [
    { tone: 'done', text: `ready at ${url}` },
    { tone: 'hint', text: details.join('\n') },
    ...(problem === null ? [] : [{ tone: 'warning' as const, text: problem }]),
  ];
}

export const stoppedClock = (epochMs: number): Note => ({
  tone: 'warning',
  text:
    `this is a test clock: it stands at ${toInstant(epochMs)} until an admin token moves it with POST /_test/clock. ` +
    'Without --clock the server keeps the time.',
});
