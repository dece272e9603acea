import type { Preset } from './preset.ts';

export const dodo: Preset = {
  recognisedBy: ['business_id', 'activations_limit', 'payment_id'],
  fields: {
    key: 'key',
    productId: 'product_id',
    maxActivations: 'activations_limit',
    expirationDate: 'expires_at',
    createdAt: 'created_at',
    customerName: ['customer.name', 'customer.email'],
    customerEmail: 'customer.email',
    'metadata.oldId': 'id',
    'metadata.oldCustomerId': 'customer_id',
    'metadata.paymentId': 'payment_id',
    'metadata.subscriptionId': 'subscription_id',
  },
  blocked: { status: ['disabled'] },
  devices: { keyId: 'license_key_id', hostId: 'id', deviceTag: 'name', activationTime: 'created_at' },
};
