import { readConfig } from '../../config/config-file.ts';
import { addProfile, changeProfile, profileOf } from '../../config/profiles.ts';
import type { CommandContext } from '../../context.ts';
import { LocalError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import { quote } from '../../output/words.ts';
import { type RunningServer, recordServer } from '../../state/servers.ts';

interface Served extends RunningServer {
  /** The first token of its database, where that is new. */
  readonly adminToken: string | null;
  /** Whether other servers may run on the same database: then one address does not stand for them all. */
  readonly isShared: boolean;
}

/** Stores the first token of a database as a profile of its own. Returns how the server is reached, as lines to show. */
export async function storeAccess({ url, db, adminToken, isShared }: Served, io: Io): Promise<readonly string[]> {
  const how = isShared ? 'with LKM_DB' : `--db ${quote(db)}, while this is stopped`;
  const instructions = [
    `  token     lkm tokens create --kind admin --name NAME ${how}`,
    '  try it    lkm -p local products list, with the token in LKM_TOKEN',
  ];
  if (adminToken === null) {
    const profile = profileOf(db, await readConfig(io));
    if (profile === undefined) return instructions;
    const isMoved = profile.baseUrl !== url;
    if (isMoved && isShared) return profileLines('local');
    if (isMoved) await changeProfile(io, profile.name, (stored) => ({ ...stored, baseUrl: url }));
    return profileLines(profile.name);
  }
  const shown = io.stdout.isTTY && io.stderr.isTTY ? [`  token     ${adminToken} (shown once)`] : [];
  try {
    return [...shown, ...profileLines(await addProfile(io, 'local', { baseUrl: url, token: adminToken, db }))];
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    // The server runs all the same, as in a container whose home is read-only; more tokens can be made.
    return [`  profile   none: ${error.message}`, ...(shown.length > 0 ? shown : instructions)];
  }
}

const profileLines = (profile: string): readonly string[] => {
  return [`  profile   ${profile}`, `  try it    lkm -p ${profile} products list`];
};

/** Lets `-p local` find the server. */
export async function recordRunningServer(server: RunningServer, { io, say, onClose }: CommandContext) {
  try {
    const forget = recordServer(server, io);
    onClose(async () => forget());
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    await say({ tone: 'warning', text: `${error.message}: -p local does not find this server` });
  }
}
