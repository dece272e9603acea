import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { examples } from './examples.ts';
import { licenseAddress } from './licenses.ts';
import { bare, plain } from './reply.ts';
import { HostId } from './scalars.ts';

const { productId, licenseKey, hostId } = examples.device;

/** The operations on the devices of keys. */
export const keyDevices = {
  /** Frees the slot of one device, or without `hostId` of every device. */
  deactivate: endpoint({
    summary: 'Free one device of a licence key, or all',
    description:
      'Removes a device from a licence key, which frees its activation slot. Without `hostId` all devices are ' +
      'removed; a token of kind `client` has to name one.',
    method: 'POST',
    path: '/deactivate-key',
    scope: 'license:activate',
    openToClients: true,
    body: z
      .object({ ...licenseAddress, hostId: HostId.optional().describe('The device to free; absent: all of them') })
      .meta({ id: 'DeactivateKeyRequest' }),
    reply: bare('DeactivateKeyResponse', {
      message: z.string().meta({ description: '"Device deactivated" or "All devices deactivated"' }),
    }),
    example: { body: { productId, licenseKey, hostId }, reply: { message: 'Device deactivated' } },
    errors: ['notActivated', 'deviceNotFound'],
    source: 'API description, POST /deactivate-key',
  }),

  /** Signs an offline licence file for one device; takes a slot unless the device holds one. */
  sign: endpoint({
    summary: 'Sign an offline licence file for a device',
    description:
      'Returns a signed licence file that the device can verify without a network. Takes an activation slot unless ' +
      'the device already holds one. The file ends with the licence, or after `ttl` if that is sooner.',
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
    reply: plain('SignKeyResponse', { file: z.string().describe('The licence file: JSON text') }),
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
