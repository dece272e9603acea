import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import type { Contract } from '../contract/index.ts';
import type { HostId, Instant } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import type { License } from '../domain/license.ts';
import type { LicenseClaims } from '../domain/license-file/claims.ts';
import { signRevocations } from '../domain/license-file/revocations.ts';
import { signLicenseFile } from '../domain/license-file/sign.ts';
import { epochSeconds } from '../domain/time.ts';
import type { Context } from './context.ts';
import { licenseEvent } from './record.ts';
import { findAccount } from './signing-keys.ts';

type Revocations = Contract['revocations'];

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
  return files.map(({ id, hostId, kid, signedAt, endsAt, revokedAt }) => ({
    id,
    hostId,
    kid,
    signedAt,
    endsAt,
    revokedAt,
  }));
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
export async function exportRevocations(
  context: Context,
  { account }: InputOf<Revocations['export']>,
): Promise<PayloadOf<Revocations['export']>> {
  const { repositories, now } = context;
  const iss = await findAccount(repositories, account);
  const { seq, changedAt, files, licenses } = await repositories.files.revocations(iss);
  return signRevocations(await context.signer(iss), {
    iss,
    now: epochSeconds(now),
    changedAt: changedAt === null ? null : epochSeconds(changedAt),
    seq,
    files,
    licenses,
  });
}
