import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { HostId } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import { isActivated, type License, refusalToUse } from '../domain/license.ts';
import { signLicenseFile } from '../domain/license-file/sign.ts';
import { addSeconds, earlier } from '../domain/time.ts';
import type { Context } from './context.ts';
import { findLicense, hasActiveCustomer } from './keys.ts';

type Keys = Contract['keys'];

/** Frees the slot of one device, or of every device. */
export async function deactivateKey(
  context: Context,
  input: InputOf<Keys['deactivate']>,
): Promise<PayloadOf<Keys['deactivate']>> {
  const { repositories, now } = context;
  const license = await findLicense(context, input);
  if (license === null) throw apiError('deviceNotFound');
  if (!isActivated(license)) throw apiError('notActivated');

  if (input.hostId === undefined) {
    await repositories.keys.freeSlots(license, await repositories.devices.removeAll(license), now);
    return { message: 'All devices deactivated' };
  }
  if (!(await repositories.devices.remove(license, input.hostId))) throw apiError('deviceNotFound');
  await repositories.keys.freeSlots(license, 1, now);
  return { message: 'Device deactivated' };
}

/** Signs a licence file for one device, which takes a slot unless it holds one. */
export async function signKey(context: Context, input: InputOf<Keys['sign']>): Promise<PayloadOf<Keys['sign']>> {
  const { repositories, now } = context;
  const license = await findLicense(context, input);
  if (license === null) throw apiError('licenseNotFound');
  const ends = input.ttl === undefined ? null : addSeconds(now, input.ttl);
  const expiresAt = earlier(license.expirationDate, ends);
  if (expiresAt === null) throw apiError('invalidParams');
  const refusal = refusalToUse(license, {
    customerActive: await hasActiveCustomer(context, license),
    hostId: input.hostId,
    now,
  });
  if (refusal !== null) throw apiError(refusal);

  if (!(await holdSlot(context, license, input.hostId))) throw apiError('activationLimit');
  const customer =
    license.customerId === null ? null : await repositories.customers.find(license.accountId, license.customerId);
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

/** Makes the host a device of the licence if it is none yet; false when no slot is free for it. */
async function holdSlot(context: Context, license: License, hostId: HostId): Promise<boolean> {
  const { repositories, now } = context;
  if (await repositories.devices.exists(license, hostId)) return true;
  if (!(await repositories.keys.takeSlot(license, now))) {
    // Another request may have activated this very host since we looked, and taken the last slot for it.
    return repositories.devices.exists(license, hostId);
  }
  const added = await repositories.devices.insert(license, {
    id: newId('dev', now, context.random(10)),
    hostId,
    tag: null,
    ipAddress: context.ipAddress,
    now,
  });
  if (!added) await repositories.keys.freeSlots(license, 1, now);
  return true;
}
