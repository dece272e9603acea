import type { Preset } from './preset.ts';

export const gumroad: Preset = {
  recognisedBy: ['Purchase ID', 'License Key', 'Item Name'],
  fields: {
    key: 'License Key',
    productId: ['Item Name', 'Product Name'],
    createdAt: ['Purchase Date', 'Created At'],
    customerName: ['Buyer Name', 'Full Name', 'Buyer Email', 'Purchase Email', 'Email'],
    customerEmail: ['Buyer Email', 'Purchase Email', 'Email'],
    'metadata.oldId': ['Purchase ID', 'id'],
    'metadata.quantity': 'Quantity',
  },
  blocked: { 'Fully Refunded?': true, 'Refunded?': true, 'Disputed?': true, 'License Disabled': true },
};
