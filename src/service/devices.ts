import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { refuse } from '../contract/errors.ts';
import type { Contract } from '../contract/index.ts';
import type { HostId } from '../contract/scalars.ts';
import { newId } from '../domain/ids.ts';
import { isActivated, type License, refusalToUse } from '../domain/license.ts';
import { signLicenseFile } from '../domain/license-file.ts';
import { addSeconds, earlier } from '../domain/time.ts';
import type { Context } from './context.ts';
import { findLicense, hasActiveCustomer } from './keys.ts';

type Keys = Contract['keys'];

/** Frees the slot of one device, or of every device. */
export async function deactivateKey(
  context: Context,
  input: InputOf<Keys['deactivate']>,
): Promise<PayloadOf<Keys['deactivate']>> {
  const { rows, now } = context;
  const license = await findLicense(context, input);
  if (license === null) throw refuse('deviceNotFound');
  if (!isActivated(license)) throw refuse('notActivated');

  if (input.hostId === undefined) {
    await rows.keys.freeSlots(license, await rows.devices.removeAll(license), now);
    return { message: 'All devices deactivated' };
  }
  if (!(await rows.devices.remove(license, input.hostId))) throw refuse('deviceNotFound');
  await rows.keys.freeSlots(license, 1, now);
  return { message: 'Device deactivated' };
}

/** Signs a licence file for one device, which takes a slot unless it holds one. */
export async function signKey(context: Context, input: InputOf<Keys['sign']>): Promise<PayloadOf<Keys['sign']>> {
  const { rows, now } = context;
  const license = await findLicense(context, input);
  if (license === null) throw refuse('licenseNotFound');
  const ends = input.ttl === undefined ? null : addSeconds(now, input.ttl);
  const expiresAt = earlier(license.expirationDate, ends);
  if (expiresAt === null) throw refuse('invalidParams');
  const refusal = refusalToUse(license, {
    customerActive: await hasActiveCustomer(context, license),
    hostId: input.hostId,
    now,
  });
  if (refusal !== null) throw refuse(refusal);

  if (!(await holdSlot(context, license, input.hostId))) throw refuse('activationLimit');
  const customer =
    license.customerId === null ? null : await rows.customers.find(license.accountId, license.customerId);
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
  const { rows, now } = context;
  if (await rows.devices.exists(license, hostId)) return true;
  if (!(await rows.keys.takeSlot(license, now))) {
    // Another request may have activated this very host since we looked, and taken the last slot for it.
    return rows.devices.exists(license, hostId);
  }
  const added = await rows.devices.insert(license, {
    id: newId('dev', now, context.random(10)),
    hostId,
    tag: null,
    ipAddress: context.ipAddress,
    now,
  });
  if (!added) await rows.keys.freeSlots(license, 1, now);
  return true;
}
