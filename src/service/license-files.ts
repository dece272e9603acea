import type { revocations } from '../contract/revocations.ts';
import type { HostId, Instant } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import type { License } from '../domain/license.ts';
import type { LicenseClaims } from '../domain/license-file/claims.ts';
import type { Signer } from '../domain/license-file/jws.ts';
import { hourOf, signRevocations } from '../domain/license-file/revocations.ts';
import { signLicenseFile } from '../domain/license-file/sign.ts';
import { epochSeconds } from '../domain/time.ts';
import type { Context, UseCase } from './context.ts';
import { anyone, type Operations } from './operation.ts';
import { licenseEvent } from './record.ts';
import { findAccount } from './signing-keys.ts';

type Revocations = typeof revocations;

/** Signs a licence file for one device and remembers it until it ends. */
export async function signFile(
  context: Context,
  license: License,
  { hostId, customer, expiresAt }: { hostId: HostId; customer: LicenseClaims['customer']; expiresAt: Instant },
): Promise<string> {
  const { repositories, now } = context;
  const signer = await context.signer();
  const id = newId('fil', now, context.random(10));
  const { accountId } = license;
  const file = signLicenseFile(signer, { id, issuer: accountId, license, customer, hostId, now, expiresAt });
  await repositories.files.insert({
    accountId,
    id,
    licenseId: license.id,
    hostId,
    kid: signer.kid,
    signedAt: now,
    endsAt: expiresAt,
    revokedAt: null,
  });
  context.record(licenseEvent('license.signed', license, { hostId, fileId: id, expiresAt }));
  return file;
}

/** The files of a licence that have not ended, as callers see them. */
export async function listFiles({ repositories, now }: Context, license: License) {
  const files = await repositories.files.listOutstanding(license, now);
  return files.map(({ accountId: _, licenseId: __, ...shown }) => shown);
}

/**
 * Revokes the files of a device that was freed, or with null those of every device of the licence. Returns those that
 * still verify where nobody reads the revocation list, for the reply; without any, nothing.
 */
export async function revokeFiles({ repositories, now }: Context, license: License, hostId: HostId | null) {
  const files = await repositories.files.revoke(license, hostId, now);
  return files.length === 0 ? {} : { files: files.map(({ id, hostId, endsAt }) => ({ id, hostId, endsAt })) };
}

/** The signed revocation list of one account, by default of the oldest. */
const exportRevocations: UseCase<Revocations['export']> = async (context, { account }) => {
  const { repositories, now } = context;
  const iss = await findAccount(repositories, account);
  const signer = await context.signer(iss);
  const seconds = epochSeconds(now);
  const hour = hourOf(seconds);
  const last = lastLists.get(signer);
  if (last !== undefined && last.hour === hour && last.seq === (await repositories.files.revocationSeq(iss))) {
    return last.text;
  }
  const { seq, changedAt, files, licenses } = await repositories.files.revocations(iss);
  const changed = changedAt === null ? null : epochSeconds(changedAt);
  const text = signRevocations(signer, { iss, now: seconds, changedAt: changed, seq, files, licenses });
  lastLists.set(signer, { seq, hour, text });
  return text;
};

/**
 * The list that each signer signed last. Number and hour tell what is in it; anybody may ask for it, and a long one takes
 * milliseconds to read and to sign.
 */
const lastLists = new WeakMap<Signer, { readonly seq: number; readonly hour: number; readonly text: string }>();

/** The operations on the revocation list. */
export const revocationOperations: Operations<typeof revocations> = {
  export: { perform: exportRevocations, authorize: anyone },
};
