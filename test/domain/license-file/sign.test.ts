import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/contract/scalars.ts';
import {
  createSigner,
  describePublicKey,
  type FileFacts,
  signLicenseFile,
  toJwk,
} from '../../../src/domain/license-file/sign.ts';
import { hostId, licenseWith, now, privatePems, publicPemOf } from '../examples.ts';

const [privatePem] = privatePems;
const publicPem = publicPemOf(privatePem);
const signer = createSigner(privatePem);
const KID = 'BuP9j9opu2CrWVV95h7bCuzbIxE0vjDnW0Vfjht5L6k';
/** RFC 8037, A.2. */
const X = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';

const facts: FileFacts = {
  id: 'fil_1',
  license: licenseWith(),
  customer: null,
  hostId,
  now,
  expiresAt: '2026-11-21T11:00:00.900Z' as Instant,
};

describe('signLicenseFile', () => {
  const license = licenseWith({
    expirationDate: '2026-12-21T10:00:00.900Z' as Instant,
    features: { export: true, seats: 3, edition: 'café' },
    isTrial: true,
    licenseType: 'floating',
  });

  it('writes the envelope, member by member in its order', () => {
    const file = signLicenseFile(signer, { ...facts, license });
    const { licenseToken } = JSON.parse(file);
    expect(file).toBe(
      JSON.stringify({
        format: 'lkm-lic/1',
        licenseToken,
        signedKey: '7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5',
        signedDate: '2026-11-21T10:00:00.900Z',
        keyId: KID,
        publicKeyFingerprint: 'sha256:06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9',
      }),
    );
  });

  it('states header and claims, member by member in their order', () => {
    const customer = { id: 'cus_1', name: 'Zoë', email: 'zoe@example.com' };
    const file = signLicenseFile(signer, { ...facts, license, customer });
    expect(partsOf(file)).toEqual([
      `{"alg":"EdDSA","typ":"lic+jwt","kid":"${KID}"}`,
      JSON.stringify({
        iss: 'acc_1',
        jti: 'fil_1',
        sub: 'lic_1',
        key: '7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5',
        productId: 'prod_0000000000000000000001',
        machine: 'host-1',
        type: 'offline',
        iat: 1_795_255_200,
        nbf: 1_795_255_200,
        exp: 1_795_258_800,
        licenseExp: 1_797_847_200,
        features: { export: true, seats: 3, edition: 'café' },
        is_trial: true,
        licenseType: 'floating',
        customer: { id: 'cus_1', name: 'Zoë' },
        v: 1,
      }),
    ]);
  });

  it.each([
    ['2026-11-21T10:59:59.999Z', null, 1_795_258_799, null],
    ['2026-11-21T11:00:00.000Z', null, 1_795_258_800, null],
    ['2026-11-21T11:00:00.000Z', '2026-11-21T10:30:00.999Z', 1_795_257_000, 1_795_257_000],
  ])('expires no later than %s and the licence’s own %s', (expiresAt, expirationDate, exp, licenseExp) => {
    const limited = licenseWith({ expirationDate: expirationDate as Instant | null });
    const file = signLicenseFile(signer, { ...facts, license: limited, expiresAt: expiresAt as Instant });
    expect(claimsOf(file)).toMatchObject({ exp, licenseExp });
  });
});

describe('a key', () => {
  it('is named by the SHA-256 of its SPKI, and shown without its private half', () => {
    expect([signer.kid, describePublicKey(publicPem).kid]).toEqual([KID, KID]);
    const jwk = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: KID, x: X };
    expect([toJwk(publicPem), toJwk(privatePem)]).toEqual([jwk, jwk]);
  });

  it('is refused unless it is Ed25519', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const message = new TypeError('licence files are signed with Ed25519, not ec');
    expect(() => createSigner(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())).toThrow(message);
    expect(() => toJwk(publicKey.export({ type: 'spki', format: 'pem' }).toString())).toThrow(message);
  });
});

const tokenOf = (file: string): string[] => JSON.parse(file).licenseToken.split('.');

const partsOf = (file: string): string[] =>
  tokenOf(file)
    .slice(0, 2)
    .map((part) => Buffer.from(part, 'base64url').toString());

const claimsOf = (file: string) => JSON.parse(partsOf(file)[1] ?? '');
