import type { Session as ShownSession } from '../contract/keys/licenses.ts';
import { type License, NO_TAG } from '../domain/license.ts';
import type { Session } from '../store/tables/sessions.ts';
import type { Context } from './context.ts';

/** The sessions of a licence whose lease runs, oldest first. */
export async function listLiveSessions({ repositories, now }: Context, license: License): Promise<ShownSession[]> {
  return (await repositories.sessions.listLive(license, now)).map(showSession);
}

/** A session as callers see it. */
export const showSession = ({ id, hostId, tag, userIdentifier, createdAt, expiresAt }: Session): ShownSession => ({
  id,
  hostId,
  deviceTag: tag ?? NO_TAG,
  userIdentifier,
  createdAt,
  expiresAt,
});
