/** Values that fit the contract. */
export const productId = 'prod_01kaqvn4zce8k9v2w6m3t5x7ya';
export const licenseKey = 'ABCDE-FGHJK-MNPQR-STVWX-YZ234';
export const issued = { code: 0, key: licenseKey };

const instant = '2026-11-21T12:00:00.000Z';

export const customer = {
  id: 'cus_1',
  name: 'Ada',
  email: 'ada@example.com',
  active: true,
  createdAt: instant,
  updatedAt: instant,
  createdBy: 'acc_1',
};

/** The shorter form of a licence. */
export const shortLicense = {
  id: 'lic_1',
  key: licenseKey,
  productId,
  maxActivations: 5,
  activations: 1,
  devices: [{ id: 'dev_1', hostId: 'host-a', deviceTag: 'No tag', ipAddress: '203.0.113.7', activationTime: instant }],
  activated: true,
  expirationDate: null,
};
