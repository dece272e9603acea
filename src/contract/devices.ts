import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { RevokedFile } from './keys/license-files.ts';
import { Device, licenseAddress, Warning } from './keys/licenses.ts';
import { examples } from './openapi/examples.ts';
import { bare, plain } from './reply.ts';
import { Count, HostId, text } from './scalars.ts';

const { productId, licenseKey, hostId } = examples.device;

const DeviceTag = text(1, 64);

/** How often tokens of kind `client` may take slots of one licence from their hosts in a calendar year, UTC. Source: decision 0044. */
export const MAX_SELF_REBINDS_PER_YEAR = 3;

/** What a reply says of the files of hosts that hold a slot no more. */
const revokedFiles = {
  files: z
    .array(RevokedFile)
    .optional()
    .describe('Licence files of freed devices that have not ended; absent when there are none'),
};

/** The operations on the devices of keys. */
export const keyDevices = {
  /** Frees the slot of one device, or without `hostId` of every device. */
  deactivate: endpoint({
    summary: 'Free one device of a licence key, or all',
    description:
      'Removes a device from a licence key, which frees its activation slot. Without `hostId` all devices are ' +
      'removed. A token of kind `client` has to name one, and frees it only where the licence says `customerCanSelfReset`; ' +
      `each time counts as a rebinding, of which it has ${MAX_SELF_REBINDS_PER_YEAR} in a calendar year (UTC).`,
    method: 'POST',
    path: '/deactivate-key',
    scope: 'license:activate',
    openToClients: true,
    body: z
      .object({
        ...licenseAddress,
        hostId: HostId.optional().describe('The device to free; absent: all of them'),
      })
      .meta({ id: 'DeactivateKeyRequest' }),
    reply: bare('DeactivateKeyResponse', {
      message: z.string().meta({ description: '"Device deactivated" or "All devices deactivated"' }),
      ...revokedFiles,
    }),
    example: { body: { productId, licenseKey, hostId }, reply: { message: 'Device deactivated' } },
    errors: ['notActivated', 'deviceNotFound', 'selfResetOff', 'rebindLimit'],
    source: 'API description, POST /deactivate-key',
  }),

  /** Makes a host a device of a licence; takes a slot unless the host holds one. */
  activate: endpoint({
    summary: 'Activate a licence key on a device',
    description:
      'Makes a host a device of a licence key, which takes an activation slot. A host that holds a slot keeps it: the ' +
      'response is alike, and nothing changes.',
    method: 'POST',
    path: '/key/activate',
    scope: 'license:activate',
    openToClients: true,
    body: z
      .object({
        ...licenseAddress,
        hostId: HostId,
        deviceTag: DeviceTag.optional().describe('What people call the device; of a new device only'),
      })
      .meta({ id: 'ActivateKeyRequest' }),
    reply: bare('ActivateKeyResponse', {
      message: z.string(),
      device: Device,
      activations: Count.describe('How many devices hold a slot, this one included'),
      maxActivations: Count.nullable().describe('How many slots there are; null means unlimited'),
      warning: Warning.optional(),
    }),
    example: {
      body: { productId, licenseKey, hostId },
      reply: { message: 'Device activated', device: examples.license.devices[0], activations: 1, maxActivations: 5 },
    },
    errors: [
      'licenseNotFound',
      'licenseExpired',
      'licenseDisabled',
      'customerInactive',
      'deviceNotAllowed',
      'activationLimit',
    ],
    source: 'decision 0009',
  }),

  /** Moves the slot of a device to another host. */
  rebind: endpoint({
    summary: 'Move the slot of a device to another host',
    description:
      'Gives the slot of a device to another host: the count of activations stays, and nobody else can take the slot ' +
      'meanwhile. A token of kind `client` may do it where the licence says `customerCanSelfReset`, and only ' +
      `${MAX_SELF_REBINDS_PER_YEAR} times in a calendar year (UTC), in which every rebinding of the licence counts.`,
    method: 'POST',
    path: '/key/rebind',
    scope: 'license:activate',
    openToClients: true,
    body: z
      .object({
        ...licenseAddress,
        hostId: HostId.describe('The device that gives up its slot'),
        newHostId: HostId.describe('The host that gets it'),
        deviceTag: DeviceTag.optional().describe('What people call the new device; absent: as the old one'),
      })
      .meta({ id: 'RebindKeyRequest' }),
    reply: bare('RebindKeyResponse', { message: z.string(), device: Device, ...revokedFiles }),
    example: {
      body: { productId, licenseKey, hostId: 'host-0', newHostId: hostId },
      reply: { message: 'Device rebound', device: examples.license.devices[0] },
    },
    errors: [
      'licenseNotFound',
      'deviceNotFound',
      'licenseExpired',
      'licenseDisabled',
      'customerInactive',
      'deviceNotAllowed',
      'selfResetOff',
      'rebindLimit',
      'hostActivated',
    ],
    source: 'decision 0044',
  }),

  /** Signs an offline licence file for one device; takes a slot unless the device holds one. */
  sign: endpoint({
    summary: 'Sign an offline licence file for a device',
    description:
      'Returns a signed licence file that the device can verify without a network. Takes an activation slot unless ' +
      'the device already holds one. The file ends with the licence, or after `ttl` if that is sooner. Once the licence has expired, ' +
      'the file ends with its grace period.',
    method: 'POST',
    path: '/key/sign',
    scope: 'license:sign',
    openToClients: true,
    body: z
      .object({
        ...licenseAddress,
        hostId: HostId,
        ttl: z
          .int()
          .min(60)
          .max(3_155_760_000)
          .optional()
          .meta({
            description: 'Seconds the file is good for; required when the licence never expires',
            examples: [86_400],
          }),
      })
      .meta({ id: 'SignKeyRequest' }),
    reply: plain('SignKeyResponse', {
      file: z.string().describe('The licence file: JSON text'),
      warning: Warning.optional(),
    }),
    example: { body: { productId, licenseKey, hostId, ttl: 86_400 }, reply: { file: examples.licenseFile } },
    errors: [
      'licenseNotFound',
      'licenseExpired',
      'licenseDisabled',
      'customerInactive',
      'deviceNotAllowed',
      'activationLimit',
    ],
    source: 'API description, POST /key/sign',
  }),
};
