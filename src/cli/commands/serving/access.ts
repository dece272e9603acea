import { endLocalProfile, hasToken, startLocalProfile } from '../../config/profiles.ts';
import type { CommandContext } from '../../context.ts';
import { LocalError } from '../../failure/errors.ts';
import { quote } from '../../output/words.ts';

interface Served {
  readonly url: string;
  readonly db: string;
  /** The first token of a new database. */
  readonly adminToken: string | null;
  readonly isShared: boolean;
}

/** Stores the server as profile `local` until it ends. Returns lines that explain the access, each with its title. */
export async function storeAccess(
  { url, db, adminToken, isShared }: Served,
  { io, onClose }: CommandContext,
): Promise<readonly (readonly [title: string, text: string])[]> {
  const how = isShared ? 'with LKM_DB' : `--db ${quote(db)}, while this is stopped`;
  const newToken = ['token', `lkm tokens create --kind admin --name NAME ${how}`] as const;
  const isShown = adminToken !== null && io.stdout.isTTY && io.stderr.isTTY;
  const shown = isShown ? [['token', `${adminToken} (shown once)`] as const] : [];
  try {
    const profile = await startLocalProfile(io, { url, db, token: adminToken });
    onClose(() => endLocalProfile(io, url));
    const command = 'lkm -p local products list';
    if (!hasToken(profile)) return [newToken, ['try it', `${command}, with the token in LKM_TOKEN`]];
    return [...shown, ['profile', 'local'], ['try it', command]];
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    // The server runs without a profile, for example in a container with a read-only home.
    return [['profile', `none: ${error.message}`], ...(isShown ? shown : [newToken])];
  }
}
