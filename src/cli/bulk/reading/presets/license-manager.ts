import type { Preset } from './preset.ts';

export const licenseManager: Preset = {
  recognisedBy: ['license_key', 'times_activated_max', 'valid_for'],
  fields: {
    key: 'license_key',
    productId: ['product_name', 'product_id'],
    maxActivations: 'times_activated_max',
    expirationDate: 'expires_at',
    createdAt: 'created_at',
    customerName: ['user_name', 'user_email'],
    customerEmail: 'user_email',
    customerId: 'user_id',
    'metadata.oldId': 'id',
    'metadata.orderId': ['order_num', 'order_id'],
    'metadata.oldProductId': 'product_id',
    'metadata.oldCustomerId': 'user_id',
  },
  daysFromFirstUse: 'valid_for',
  lost: { times_activated: 'activations of devices that the file does not name' },
};
