import type { Preset } from './preset.ts';

export const cryptolens: Preset = {
  recognisedBy: ['GlobalId', 'MaxNoOfMachines', 'F1'],
  fields: {
    key: 'Key',
    productId: ['ProductName', 'ProductId'],
    maxActivations: 'MaxNoOfMachines',
    expirationDate: 'Expires',
    createdAt: 'Created',
    customerName: ['Customer.Name', 'Customer.CompanyName', 'Customer.Email'],
    customerEmail: 'Customer.Email',
    customerId: 'Customer.Id',
    'metadata.oldId': 'ID',
    'metadata.globalId': 'GlobalId',
    'metadata.company': 'Customer.CompanyName',
    'metadata.notes': 'Notes',
    allowedHosts: 'AllowedMachines',
  },
  blocked: { Block: true },
  features: ['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7', 'F8'],
  lost: { TrialActivation: 'trials that begin with the first activation', DataObjects: 'data objects' },
  devices: {
    inColumn: 'ActivatedMachines',
    keyId: ['LicenseId', 'KeyId', 'GlobalId'],
    hostId: 'Mid',
    deviceTag: 'FriendlyName',
    ipAddress: 'IP',
    activationTime: 'Time',
  },
};
