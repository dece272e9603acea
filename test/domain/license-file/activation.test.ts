import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/contract/scalars.ts';
import {
  type ActivationOptions,
  signActivation,
  verifyActivation,
} from '../../../src/domain/license-file/activation.ts';
import { signJws } from '../../../src/domain/license-file/jws.ts';
import { createSigner, toJwk } from '../../../src/domain/license-file/sign.ts';
import { hostId, licenseWith, now, privatePems, publicPemOf } from '../examples.ts';

const [privatePem] = privatePems;
const signer = createSigner(privatePem);
const license = licenseWith();
const proof = signActivation(signer, { id: 'act_1', license, hostId, nonce: 'n-1', now });
const options: ActivationOptions = {
  ...{ keys: [toJwk(publicPemOf(privatePem))], now, nonce: 'n-1', licenseKey: license.key, hostId },
  productId: license.productId,
};

const claims = JSON.parse(Buffer.from(proof.split('.')[1] ?? '', 'base64url').toString());

describe('the proof of an activation', () => {
  it('states the licence, its device and the nonce, for five minutes', () => {
    expect(claims).toEqual({
      ...{ iss: 'acc_1', jti: 'act_1', sub: 'lic_1', key: license.key, productId: license.productId },
      ...{ machine: hostId, nonce: 'n-1', iat: 1_795_255_200, exp: 1_795_255_500 },
    });
    expect(verifyActivation(proof, options)).toEqual({ verdict: 'ok', claims });
  });

  it('is for a key whatever its case', () => {
    expect(verifyActivation(proof, { ...options, licenseKey: license.key.toLowerCase() }).verdict).toBe('ok');
  });

  it.each<[verdict: string, changes: Partial<ActivationOptions>]>([
    ['ok', { now: '2026-11-21T10:04:59.999Z' as Instant }],
    ['token_expired', { now: '2026-11-21T10:05:00.000Z' as Instant }],
    ['ok', { now: '2026-11-21T09:59:00.000Z' as Instant }],
    ['not_yet_valid', { now: '2026-11-21T09:58:59.999Z' as Instant }],
    ['nonce_mismatch', { nonce: 'n-2', now: '2026-11-22T10:00:00.000Z' as Instant, hostId: 'other' }],
    ['nonce_mismatch', { nonce: '' }],
    ['unknown_kid', { keys: [] }],
  ])('is %s for %o', (verdict, changes) => {
    expect(verifyActivation(proof, { ...options, ...changes }).verdict).toBe(verdict);
  });

  it.each(['iss', 'jti', 'sub', 'key', 'productId', 'machine', 'nonce', 'iat', 'exp'])('needs the claim %s', (name) => {
    const lacking = signJws(signer, 'lic-act+jwt', { ...claims, [name]: null });
    expect(verifyActivation(lacking, options)).toEqual({ verdict: 'token_malformed', claims: null });
  });

  it('is no token of another kind with the same claims', () => {
    expect(verifyActivation(signJws(signer, 'lic+jwt', claims), options).verdict).toBe('token_malformed');
  });
});
