import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { NetworkError } from '../../client/errors.ts';
import { Jwk } from '../../contract/signing-keys.ts';
import { toInstant } from '../../domain/time.ts';
import { isPrivateFolder, readPrivateFile, stateDir, writeAtomically } from '../config/files.ts';
import type { CommandContext } from '../context.ts';
import type { Io } from '../io.ts';
import { originOf } from './changes.ts';

/** What a service publishes for those who verify licence files, and when it was fetched. */
const Published = z.object({ at: z.iso.datetime(), keys: z.array(Jwk), revocations: z.string() });
type Published = z.output<typeof Published>;

/** How long they are kept: as long as a revocation list lasts. Decision 0007. */
const MAX_AGE_MS = 30 * 86_400_000;

/** How long a service that cannot be reached is tried again where its keys are kept. */
const MAX_UNREACHABLE_MS = 2_000;

/**
 * The public keys and the revocation list of the service. When it cannot be reached, those that were kept when it could, with
 * its host and the instant; what it answers stands, also a refusal.
 */
export async function publishedKeys({ io, target, client }: CommandContext) {
  const service = await target();
  // A database in this process needs no network.
  const origin = service.kind === 'remote' ? originOf(service) : null;
  const last = origin && readKept(origin, io);
  const { revocations, signingKeys } = await client({
    needsToken: false,
    ...(last && { maxUnreachableMs: MAX_UNREACHABLE_MS }),
  });
  try {
    // The list before the keys: a new key that has signed it is then among them.
    const published = { revocations: await revocations.export(), keys: (await signingKeys.jwks()).keys };
    if (origin) keep(origin, { at: toInstant(io.now()), ...published }, io);
    return { ...published, kept: null };
  } catch (error) {
    if (!(origin && last && error instanceof NetworkError && error.retryable)) throw error;
    return { ...last, kept: { host: new URL(origin).host, at: last.at } };
  }
}

const fileOf = (origin: string, io: Io): string => join(stateDir(io), `keys-${encodeURIComponent(origin)}.json`);

/** What was kept of a service; null for nothing, for what is too old or of the future, and where others may have written. */
function readKept(origin: string, io: Io): Published | null {
  try {
    if (!isPrivateFolder(stateDir(io), io)) return null;
    const kept = Published.parse(JSON.parse(readPrivateFile(fileOf(origin, io), io)));
    const ageMs = io.now() - Date.parse(kept.at);
    return ageMs >= 0 && ageMs <= MAX_AGE_MS ? kept : null;
  } catch {
    return null;
  }
}

/** Writes down what was fetched, unless the state cannot be written: this verdict does not depend on it. */
function keep(origin: string, published: Published, io: Io): void {
  try {
    mkdirSync(stateDir(io), { recursive: true, mode: 0o700 });
    writeAtomically(fileOf(origin, io), JSON.stringify(published), 0o600, io);
  } catch {
    // It is kept the next time, perhaps.
  }
}
