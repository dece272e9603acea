import type { HostId } from '../contract/scalars.ts';
import type { revocations } from '../contract/signing-keys.ts';
import { newId } from '../domain/ids.ts';
import type { License } from '../domain/license.ts';
import type { Signer } from '../domain/license-file/jws.ts';
import { hourOf, signRevocations } from '../domain/license-file/revocations.ts';
import { type FileFacts, signLicenseFile } from '../domain/license-file/sign.ts';
import { epochSeconds } from '../domain/time.ts';
import type { Context } from './context.ts';
import { anyone, type Operations } from './operation.ts';
import { licenseEvent } from './record.ts';
import { findAccount } from './signing-keys.ts';

export const revocationOperations: Operations<typeof revocations> = {
  export: {
    authorize: anyone,
    async perform(context, { account }) {
      const { repositories } = context;
      const iss = await findAccount(repositories, account);
      const signer = await context.signer(iss);
      const now = epochSeconds(context.now);
      const hour = hourOf(now);
      const last = lastLists.get(signer);
      const isKnown = last?.hour === hour && last.seq === (await repositories.files.revocationSeq(iss));
      if (isKnown) return last.text;
      const { changedAt, ...content } = await repositories.files.revocations(iss);
      const changed = changedAt === null ? null : epochSeconds(changedAt);
      const text = signRevocations(signer, { iss, now, changedAt: changed, ...content });
      lastLists.set(signer, { seq: content.seq, hour, text });
      return text;
    },
  },
};

/** The last signed list of each signer, by number and hour: the list is public, and reading and signing it takes milliseconds. */
const lastLists = new WeakMap<Signer, { readonly seq: number; readonly hour: number; readonly text: string }>();

/** Signs a licence file for one device and remembers it until it ends. */
export async function signFile(
  context: Context,
  license: License,
  { hostId, customer, expiresAt, nonce }: Pick<FileFacts, 'hostId' | 'customer' | 'expiresAt' | 'nonce'>,
): Promise<string> {
  const { repositories, now } = context;
  const signer = await context.signer();
  const id = newId('fil', now, context.random(10));
  const { accountId, id: licenseId } = license;
  const file = signLicenseFile(signer, { id, license, customer, hostId, now, expiresAt, nonce });
  const remembered = { accountId, id, licenseId, hostId, kid: signer.kid, signedAt: now, endsAt: expiresAt };
  await repositories.files.insert({ ...remembered, revokedAt: null });
  context.record(licenseEvent('license.signed', license, { hostId, fileId: id, expiresAt }));
  return file;
}

export async function listFiles({ repositories, now }: Context, license: License) {
  const files = await repositories.files.listOutstanding(license, now);
  return files.map(({ accountId: _, licenseId: __, ...shown }) => shown);
}

/**
 * Revokes the files of a freed device, or with null of every device of the licence. Returns for the reply the files that
 * software without the revocation list still accepts; empty without any.
 */
export async function revokeFiles({ repositories, now }: Context, license: License, hostId: HostId | null) {
  const files = await repositories.files.revoke(license, hostId, now);
  return files.length === 0 ? {} : { files: files.map(({ id, hostId, endsAt }) => ({ id, hostId, endsAt })) };
}
