import { expect, it } from 'vitest';
import { isLicenseClaims, type LicenseClaims } from '../../../src/domain/license-file/claims.ts';

const claims: LicenseClaims = {
  iss: 'acc_1',
  jti: 'fil_1',
  sub: 'lic_1',
  key: '7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5',
  productId: 'prod_1',
  machine: 'host-1',
  type: 'offline',
  iat: 1,
  nbf: 1,
  exp: 2,
  licenseExp: null,
  features: { a: true, b: 1, c: 'x' },
  is_trial: false,
  licenseType: 'node-locked',
  customer: null,
  v: 1,
};

it('takes claims with every value that a member may have, and with members that it does not know', () => {
  const others = { licenseExp: 3, licenseType: 'floating', customer: { id: 'cus_1', name: 'Zoë' }, features: {} };
  expect([claims, { ...claims, ...others, added: 'later' }].every(isLicenseClaims)).toBe(true);
});

it.each([
  ...Object.keys(claims).map((name) => ({ [name]: undefined })),
  ...['iss', 'jti', 'sub', 'key', 'productId', 'machine'].map((name) => ({ [name]: 1 })),
  ...['iat', 'nbf', 'exp', 'licenseExp'].flatMap((name) => [{ [name]: 1.5 }, { [name]: '1' }]),
  { exp: null },
  { exp: 1e300 },
  { type: 'online' },
  { v: 2 },
  { v: '1' },
  { is_trial: 1 },
  { licenseType: 'other' },
  ...[null, [], { a: null }, { a: {} }].map((features) => ({ features })),
  ...['cus_1', { id: 'cus_1' }, []].map((customer) => ({ customer })),
])('refuses claims with %o', (changes) => {
  expect(isLicenseClaims({ ...claims, ...changes })).toBe(false);
});

it.each([undefined, null, 'claims', 1, [[claims]]])('refuses %j', (value) => {
  expect(isLicenseClaims(value)).toBe(false);
});
