import type { Preset } from './preset.ts';

export const gumroad: Preset = {
  recognisedBy: ['Purchase ID', 'License Key', 'Item Name'],
  fields: {
    key: 'License Key',
    productId: ['Item Name', 'Product Name'],
    createdAt: ['Purchase Date', 'Created At'],
    customerName: ['Buyer Name', 'Full Name', 'Buyer Email', 'Purchase Email', 'Email'],
    customerEmail: ['Buyer Email', 'Purchase Email', 'Email'],
    'metadata.oldId': 'Purchase ID',
    'metadata.quantity': 'Quantity',
  },
  blocked: {
    'Fully Refunded?': ['1', 'true', 'yes'],
    'Refunded?': ['1', 'true', 'yes'],
    'Disputed?': ['1', 'true', 'yes'],
  },
};
