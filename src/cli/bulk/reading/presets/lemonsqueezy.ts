import type { Preset } from './preset.ts';

export const lemonsqueezy: Preset = {
  recognisedBy: ['activation_limit', 'instances_count', 'order_item_id'],
  fields: {
    key: ['key', 'license_key'],
    productId: ['product_id', 'product_name'],
    maxActivations: 'activation_limit',
    expirationDate: 'expires_at',
    createdAt: 'created_at',
    customerName: ['user_name', 'customer_name', 'user_email', 'customer_email'],
    customerEmail: ['user_email', 'customer_email'],
    'metadata.oldId': 'id',
    'metadata.orderId': 'order_id',
    'metadata.orderItemId': 'order_item_id',
    'metadata.oldCustomerId': 'customer_id',
  },
  blocked: { disabled: true, status: ['disabled'] },
  test: 'test_mode',
  devices: {
    inColumn: 'license-key-instances',
    keyId: 'license_key_id',
    hostId: 'identifier',
    deviceTag: 'name',
    activationTime: 'created_at',
  },
};
