import type { Preset } from './preset.ts';

export const licensespring: Preset = {
  recognisedBy: ['license__license_key', 'product__short_code'],
  fields: {
    key: 'license__license_key',
    productId: ['product__short_code', 'product__product_name'],
    maxActivations: 'license__max_activations',
    expirationDate: ['license__validity_end_date', 'license__validity_period'],
    createdAt: ['license__created_at', 'order__created_at'],
    customerName: ['customer__company_name', 'customer__first_name + customer__last_name', 'customer__email'],
    customerEmail: 'customer__email',
    customerId: ['customer__id', 'customer__reference'],
    trial: 'order__is_trial',
    'metadata.oldId': ['license__id', 'id'],
    'metadata.orderId': ['order__store_id', 'order__id'],
    'metadata.orderType': 'order__type',
    'metadata.customerReference': 'customer__reference',
    'metadata.phone': 'customer__phone',
    'metadata.contact': 'customer__first_name + customer__last_name',
  },
  blocked: { license__enabled: ['false', '0', 'no'], license__status: ['disabled', 'revoked'] },
  test: 'order__is_test',
  devices: {
    keyId: 'license__id',
    hostId: ['hardware_id', 'device__hardware_id'],
    deviceTag: ['hostname', 'device__hostname'],
  },
};
