import type { Preset } from './preset.ts';

export const polar: Preset = {
  recognisedBy: ['benefit_id', 'display_key', 'limit_activations'],
  fields: {
    key: 'key',
    productId: 'benefit_id',
    maxActivations: 'limit_activations',
    expirationDate: 'expires_at',
    createdAt: 'created_at',
    customerName: ['customer.name', 'customer.email'],
    customerEmail: 'customer.email',
    customerId: 'customer_id',
    'metadata.oldId': 'id',
    'metadata.oldCustomerId': 'customer_id',
  },
  blockedUnless: { status: ['granted'] },
  lost: { limit_usage: 'limits of uses' },
  devices: { inColumn: 'activations', keyId: 'license_key_id', hostId: ['label', 'id'], activationTime: 'created_at' },
};
