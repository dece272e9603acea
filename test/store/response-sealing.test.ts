import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountId } from '../../src/contract/scalars.ts';
import { deriveKey, openResponse, type SealedResponse, sealResponse } from '../../src/store/response-sealing.ts';
import { NONCE_BYTES } from '../../src/store/secret-box.ts';

const accountId = 'acc_1' as AccountId;
const record = { accountId, fingerprint: 'f', tokenId: 'tok_1' };
const response = { status: 201, contentType: 'application/json', body: '{"token":"lkm_admin_é🔑\\n\n"}' };
const nonce = Uint8Array.from({ length: NONCE_BYTES }, (_, i) => i);
const { hash, sealingKey } = deriveKey(accountId, 'order-1001');
const sealed = sealResponse(response, sealingKey, record, nonce);

describe('what is derived from an idempotency key', () => {
  it('is HKDF-SHA-256 with the account in its salt: first the hash, then the sealing key', () => {
    const hmac = (key: string | Buffer, ...parts: (string | Buffer)[]) =>
      parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key)).digest();
    const secret = hmac(`lkm-idempotency-1\0${accountId}`, 'order-1001');
    const first = hmac(secret, Buffer.of(1));
    expect(hash).toBe(first.toString('hex'));
    expect(Buffer.from(sealingKey)).toEqual(hmac(secret, first, Buffer.of(2)));
  });

  it('differs for another key, and for another account', () => {
    const hashes = [
      hash,
      deriveKey(accountId, 'order-1002').hash,
      deriveKey('acc_2' as AccountId, 'order-1001').hash,
      deriveKey('acc_' as AccountId, '1order-1001').hash,
    ];
    expect(new Set(hashes).size).toBe(4);
  });
});

describe('a sealed response', () => {
  it('opens to the same status, content type and body', () => {
    expect(openResponse(sealed, sealingKey, record)).toEqual(response);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 100, max: 599 }), (body, status) => {
        const any = { status, contentType: 'text/plain; charset=utf-8', body };
        expect(openResponse(sealResponse(any, sealingKey, record, nonce), sealingKey, record)).toEqual(any);
      }),
    );
  });

  it('shows nothing of itself, and differs with each nonce', () => {
    const bytes = Buffer.from(sealed, 'base64url').toString('latin1');
    for (const part of ['201', 'json', 'token', 'lkm_admin']) expect(bytes).not.toContain(part);
    const again = sealResponse(response, sealingKey, record, new Uint8Array(NONCE_BYTES));
    expect(again).not.toBe(sealed);
    expect(openResponse(again, sealingKey, record)).toEqual(response);
  });

  it('does not open when any byte of it was changed', () => {
    const bytes = Buffer.from(sealed, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const text = changed.toString('base64url') as SealedResponse;
      expect(() => openResponse(text, sealingKey, record)).toThrow(
        /version 0 is not known|unable to authenticate data/,
      );
    }
  });

  it.each([0, 1, 12, 28, 40])('does not open when it is cut to %i bytes', (length) => {
    const text = Buffer.from(sealed, 'base64url').subarray(0, length).toString('base64url') as SealedResponse;
    expect(() => openResponse(text, sealingKey, record)).toThrow(
      /is not known|was cut off|unable to authenticate data/,
    );
  });

  it.each([
    ['key', deriveKey(accountId, 'order-1002').sealingKey, record],
    ['account', sealingKey, { ...record, accountId: 'acc_2' as AccountId }],
    ['fingerprint', sealingKey, { ...record, fingerprint: 'g' }],
    ['token', sealingKey, { ...record, tokenId: 'tok_2' }],
    ['token, where none is known', sealingKey, { ...record, tokenId: null }],
  ])('does not open for another %s', (_, key, other) => {
    expect(() => openResponse(sealed, key, other)).toThrow(/unable to authenticate data/);
  });
});
