import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { HostId } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import type { License } from '../domain/license.ts';
import { signLicenseFile } from '../domain/license-file/sign.ts';
import { addSeconds, earlier } from '../domain/time.ts';
import type { Context } from './context.ts';
import { loadFacts, refuseUnlessAllowed } from './rules.ts';

type Keys = Contract['keys'];

/** Frees the slot of one device, or of every device. */
export async function deactivateKey(
  context: Context,
  input: InputOf<Keys['deactivate']>,
): Promise<PayloadOf<Keys['deactivate']>> {
  const { repositories, now } = context;
  const facts = await loadFacts(context, 'deactivate', { ...input, hostId: input.hostId ?? null, at: now });
  if (facts === null) throw apiError('deviceNotFound');
  refuseUnlessAllowed('deactivate', facts);

  const { license } = facts;
  if (input.hostId === undefined) {
    await repositories.keys.freeSlots(license, await repositories.devices.removeAll(license), now);
    return { message: 'All devices deactivated' };
  }
  // Another request may have freed it since we looked.
  if (!(await repositories.devices.remove(license, input.hostId))) throw apiError('deviceNotFound');
  await repositories.keys.freeSlots(license, 1, now);
  return { message: 'Device deactivated' };
}

/** Signs a licence file for one device, which takes a slot unless it holds one. */
export async function signKey(context: Context, input: InputOf<Keys['sign']>): Promise<PayloadOf<Keys['sign']>> {
  const { now } = context;
  const facts = await loadFacts(context, 'sign', { ...input, at: now });
  if (facts === null) throw apiError('licenseNotFound');
  const { license, customer } = facts;
  const ends = input.ttl === undefined ? null : addSeconds(now, input.ttl);
  const expiresAt = earlier(license.expirationDate, ends);
  if (expiresAt === null) throw apiError('invalidParams');
  refuseUnlessAllowed('sign', facts);

  if (!facts.holdsSlot) await takeSlot(context, license, input.hostId);
  const file = signLicenseFile(await context.signer(), {
    id: newId('fil', now, context.random(10)),
    issuer: license.accountId,
    license,
    customer: customer && { id: customer.id, name: customer.name },
    hostId: input.hostId,
    now,
    expiresAt,
  });
  return { file };
}

/** Makes the host a device of the licence. Throws ApiError `activationLimit` when no slot is free for it. */
async function takeSlot(context: Context, license: License, hostId: HostId): Promise<void> {
  const { repositories, now } = context;
  if (!(await repositories.keys.takeSlot(license, now))) {
    // Another request may have activated this very host since we looked, and taken the last slot for it.
    if (await repositories.devices.exists(license, hostId)) return;
    throw apiError('activationLimit');
  }
  const added = await repositories.devices.insert(license, {
    id: newId('dev', now, context.random(10)),
    hostId,
    tag: null,
    ipAddress: context.ipAddress,
    now,
  });
  if (!added) await repositories.keys.freeSlots(license, 1, now);
}
