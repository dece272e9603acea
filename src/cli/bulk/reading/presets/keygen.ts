import type { Preset } from './preset.ts';

export const keygen: Preset = {
  recognisedBy: ['key', 'suspended', 'maxMachines', 'protected'],
  fields: {
    key: 'key',
    productId: ['product.id', 'product'],
    maxActivations: 'maxMachines',
    expirationDate: 'expiry',
    createdAt: 'created',
    customerName: ['owner.fullName', 'owner.firstName + owner.lastName', 'owner.email', 'user.email'],
    customerEmail: ['owner.email', 'user.email'],
    metadata: 'metadata',
    'metadata.oldId': 'id',
    'metadata.name': 'name',
    'metadata.policyId': 'policy.id',
    'metadata.ownerId': ['owner.id', 'user.id'],
  },
  blocked: { suspended: true, status: ['suspended', 'banned'] },
  lost: {
    scheme: 'keys that the other system has signed: they are looked up here, and not verified by their text',
    maxProcesses: 'limits of processes',
    maxUsers: 'limits of users',
    maxCores: 'limits of cores',
    maxMemory: 'limits of memory',
    maxDisk: 'limits of disk',
    maxUses: 'limits of uses',
  },
  devices: {
    inColumn: 'machines',
    keyId: ['license.id', 'license'],
    hostId: 'fingerprint',
    deviceTag: ['name', 'hostname'],
    ipAddress: 'ip',
    activationTime: 'created',
  },
};
