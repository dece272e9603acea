import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { integerField, request, secondsField } from './fields.ts';
import {
  Device,
  Fingerprint,
  License,
  licenseAddress,
  listedNames,
  SignedFile,
  UnseenSince,
  useErrors,
  Warning,
} from './keys/licenses.ts';
import { bare, CursorMeta, partList } from './reply.ts';
import { Count, CustomerId, HostId, LicenseId, ProductId, ShownKey, shown, shownId, text } from './scalars.ts';

const DeviceTag = text(1, 64).optional();

/** A random text that an application sends with one request and finds in the signed response. Source: decision 0007. */
const Nonce = text(1, 64).meta({ examples: ['kZ0q5mE6Yh1s'] });

/** How often tokens of kind `client` may move slots of one licence in a calendar year, UTC. Source: decision 0009. */
export const MAX_MOVES_PER_YEAR = 3;

const movesOfYear =
  'For a token of kind `client` that is a move: only where the licence says `customerCanSelfReset`, and ' +
  `${MAX_MOVES_PER_YEAR} times in a calendar year (UTC).`;

const RevokedFile = SignedFile.pick({ id: true, hostId: true, endsAt: true }).meta({
  id: 'RevokedFile',
  description:
    'A licence file of a freed device: it verifies until it expires, except where the revocation list is read',
});

const files = z.array(RevokedFile).optional().describe('Licence files of freed devices that have not expired');

/** The data of a licence that an application shows after its activation. */
const activatedLicense = {
  metadata: License.shape.metadata,
  licenseeName: z.string().nullish().describe('The name of its customer; null when it has none'),
  licenseeEmail: z.string().nullish().describe('The e-mail address of its customer; null for tokens of kind client'),
  versionId: License.shape.versionId,
  version: License.shape.version,
  allowedHosts: License.shape.allowedHosts,
};

/** A device in a list, with the key whose slot it holds. */
const ListedDevice = Device.extend({
  licenseId: LicenseId,
  licenseKey: ShownKey,
  productId: shownId(ProductId),
  customerId: shownId(CustomerId).nullable().describe('The customer of the key; null when it has none'),
  ...listedNames,
}).meta({ id: 'ListedDevice', description: 'An activation, with the key whose slot it holds' });

export const devices = {
  /** Lists the devices of many keys. Source: decision 0009. */
  list: endpoint('GET /device/list', 'license:read', {
    summary: 'List devices',
    description:
      'Lists the devices of all keys, in the order of their activation: all of a walk by `cursor`. A token that is limited ' +
      'to some products gets devices of their keys only. What is masked in `GET /key` is masked here.',
    query: z.object({
      productId: ProductId.optional().describe('Only devices of keys of this product'),
      customerId: CustomerId.optional().describe('Only devices of keys of this customer'),
      unseenSince: UnseenSince.optional().describe(
        'Only devices that were not seen on this day or later, UTC; where it is not known, by their activation',
      ),
      limit: integerField(1, 1_000).optional().describe('How many devices a part has; default 100'),
      cursor: z
        .string()
        .regex(/^(dev_[0-9a-z]{26})?$/)
        .optional()
        .describe('Walks through the whole list: empty at first, then `next` of the part before'),
    }),
    readsMany: true,
    reply: partList('ListDevicesResponse', ListedDevice, CursorMeta),
    example: { unseenSince: '2026-08-23' },
  }),
};

export const keyDevices = {
  /** Frees the slot of one device, or without `hostId` of every device. Source: API description, POST /deactivate-key. */
  deactivate: endpoint('POST /deactivate-key', 'license:activate', {
    summary: 'Free one device of a licence key, or all',
    fixesInvalidText: true,
    description:
      'Removes a device from a licence key, or all without `hostId`, which frees activation slots. A token of kind ' +
      '`client` has to name one; where slots have a limit, the slot then stays promised to that host until the calendar ' +
      'year (UTC) ends, and another one gets it only when no other is free.',
    openToClients: true,
    aliases: { 'POST /key/deactivate': {} },
    body: request('DeactivateKeyRequest', {
      ...licenseAddress,
      hostId: HostId.optional().describe('The device to free; absent: all of them'),
    }),
    reply: bare('DeactivateKeyResponse', {
      message: shown('"Device deactivated" or "All devices deactivated"', 'Device deactivated'),
      files,
    }),
    example: { hostId: 'host-1' },
    errors: ['notActivated', 'deviceNotFound'],
  }),

  /** Makes a host a device of a licence; takes a slot unless the host holds a slot. Source: decision 0009. */
  activate: endpoint('POST /key/activate', 'license:activate', {
    summary: 'Activate a licence key on a device',
    description:
      'Makes a host a device of a licence key, which takes an activation slot unless the host holds one: the one that is ' +
      `promised to it, else a free one, else one that is promised to another host. ${movesOfYear} Where the licence ` +
      'says `fingerprintMatch`, a host that shares so many components of its `fingerprint` with a device is that device, ' +
      'and goes by its `hostId` from then on.',
    openToClients: true,
    aliases: { 'POST /activate-key': {} },
    body: request('ActivateKeyRequest', {
      ...licenseAddress,
      hostId: HostId,
      deviceTag: DeviceTag.describe('What people call the device; of a new device only'),
      fingerprint: Fingerprint.optional(),
      nonce: Nonce.optional().describe('Made up for this request: asks for a `proof`'),
    }),
    reply: bare('ActivateKeyResponse', {
      message: shown('For people', 'Device activated'),
      device: Device,
      activations: Count.describe('How many devices hold a slot, this one included'),
      maxActivations: Count.nullable().describe('How many slots there are; null means unlimited'),
      proof: shown(
        'Present with a `nonce`: a compact JWS of `typ` lic-act+jwt that states key, product, device and nonce, good for five minutes',
        'eyJhbGciOiJFZERTQSJ9.e30.c2ln',
      ).optional(),
      warning: Warning.optional(),
      ...activatedLicense,
    }),
    errors: [...useErrors, 'activationLimit', 'selfResetOff', 'rebindLimit'],
  }),

  /** Frees the slot of a device without a network, which has signed that it was deactivated. Source: decision 0007. */
  deactivateOffline: endpoint('POST /key/deactivate-offline', 'license:write', {
    summary: 'Free the slot of a device by its proof',
    description:
      'Takes the proof that a device without a network has signed when it was deactivated there, with the key whose ' +
      '`publicKey` its licence file was signed for; frees its slot and revokes its files. A proof counts once.',
    body: request('DeactivateOfflineRequest', {
      ...licenseAddress,
      proof: text(1, 8_192).meta({
        description: 'The proof: a compact JWS',
        examples: ['eyJhbGciOiJFZERTQSJ9.e30.c2ln'],
      }),
    }),
    reply: bare('DeactivateOfflineResponse', {
      message: shown('For people', 'Device deactivated'),
      hostId: HostId,
      files,
    }),
    errors: ['licenseNotFound', 'deviceNotFound', 'proofRefused'],
  }),

  /** Moves the slot of a device to another host. Source: decision 0009. */
  rebind: endpoint('POST /key/rebind', 'license:activate', {
    summary: 'Move the slot of a device to another host',
    description:
      'Gives the slot of a device to another host; nobody else can take it meanwhile. Where slots have a limit: ' +
      `${movesOfYear} A host that has a slot promised comes back to that one instead, and the device leaves its own.`,
    openToClients: true,
    body: request('RebindKeyRequest', {
      ...licenseAddress,
      hostId: HostId.describe('The device that gives up its slot'),
      newHostId: HostId.describe('The host that gets it'),
      deviceTag: DeviceTag.describe('What people call the new device; absent: as the old one'),
    }),
    reply: bare('RebindKeyResponse', { message: shown('For people', 'Device rebound'), device: Device, files }),
    example: { hostId: 'host-0' },
    errors: [...useErrors, 'deviceNotFound', 'selfResetOff', 'rebindLimit', 'hostActivated'],
  }),

  /** Signs an offline licence file; takes a slot unless the device holds a slot. Source: API description, POST /key/sign. */
  sign: endpoint('POST /key/sign', 'license:sign', {
    summary: 'Sign an offline licence file for a device',
    description:
      'Returns a signed licence file that the device can verify without a network. Takes an activation slot unless ' +
      'the device already holds one, as activating does. The file expires with the licence, in its grace period with that, or ' +
      'after `ttl` if that is sooner.',
    openToClients: true,
    body: request('SignKeyRequest', {
      ...licenseAddress,
      hostId: HostId,
      ttl: secondsField(60, 3_155_760_000).describe(
        'Seconds the file is good for; required when the licence never expires',
      ),
      fingerprint: Fingerprint.optional(),
      nonce: Nonce.optional().describe(
        'Made up for this request: a claim of the file, so that no other one passes for it',
      ),
      publicKey: z
        .string()
        .regex(/^[A-Za-z0-9_-]{43}$/)
        .optional()
        .describe('The Ed25519 point, base64url, of a key that the device has made: it signs that it was deactivated'),
    }),
    reply: bare(
      'SignKeyResponse',
      {
        file: shown(
          'The licence file: JSON text',
          '{"format":"lkm-lic/1","licenseToken":"eyJhbGciOi…","keyId":"q1XrLr4h…"}',
        ),
        warning: Warning.optional(),
      },
      { mayLackCode: true },
    ),
    example: { ttl: 86_400 },
    errors: [...useErrors, 'activationLimit', 'selfResetOff', 'rebindLimit'],
  }),
};
