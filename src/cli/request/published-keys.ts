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

/** The public keys and the revocation list of a service, with the time when they were fetched. */
const Published = z.object({ at: z.iso.datetime(), keys: z.array(Jwk), revocations: z.string() });
type Published = z.output<typeof Published>;

/** How long they are kept: the lifetime of a revocation list. Decision 0007. */
const MAX_AGE_MS = 30 * 86_400_000;

/** How long an unreachable service is retried if its keys are kept. */
const MAX_UNREACHABLE_MS = 2_000;

/**
 * Fetches public keys and revocation list. If the service cannot be reached, returns the kept copy with the host and the
 * time when it was fetched. An error response of the service is not replaced.
 */
export async function publishedKeys({ io, target, client }: CommandContext) {
  const service = await target();
  const origin = service.kind === 'remote' ? originOf(service) : null;
  const last = origin && readKept(origin, io);
  const { revocations, signingKeys } = await client({
    needsToken: false,
    ...(last && { maxUnreachableMs: MAX_UNREACHABLE_MS }),
  });
  try {
    // The list first: the keys then contain a new key that has signed it.
    const published = { revocations: await revocations.export(), keys: (await signingKeys.jwks()).keys };
    if (origin) keep(origin, { at: toInstant(io.now()), ...published }, io);
    return { ...published, kept: null };
  } catch (error) {
    if (!(origin && last && error instanceof NetworkError && error.retryable)) throw error;
    return { ...last, kept: { host: new URL(origin).host, at: last.at } };
  }
}

const fileOf = (origin: string, io: Io): string => join(stateDir(io), `keys-${encodeURIComponent(origin)}.json`);

/**
 * Reads the kept keys; null without a file, for a file that is too old or dated in the future, and for a folder that other
 * users can write to.
 */
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

/** Keeps the keys if possible: the current verdict does not depend on it. */
function keep(origin: string, published: Published, io: Io): void {
  try {
    mkdirSync(stateDir(io), { recursive: true, mode: 0o700 });
    writeAtomically(fileOf(origin, io), JSON.stringify(published), 0o600, io);
  } catch {
    // The next run tries again.
  }
}
