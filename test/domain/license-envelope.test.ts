import { describe, expect, it } from 'vitest';
import { readLicenseEnvelope } from '../../src/domain/license-envelope.ts';
import { createSigner, signLicenseFile } from '../../src/domain/license-file.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { hostId, licenseWith, now, privatePems } from './examples.ts';

const signer = createSigner(privatePems[0]);
const facts = { id: 'fil_1', issuer: 'acc_1', customer: null, hostId, now, expiresAt: addSeconds(now, 60) };
const text = signLicenseFile(signer, { ...facts, license: licenseWith() });
const file = JSON.parse(text);
const [head = '', body = '', tail = ''] = file.licenseToken.split('.');
const header = { alg: 'EdDSA', typ: 'lic+jwt', kid: signer.kid };

describe('readLicenseEnvelope', () => {
  it('takes a licence file apart', () => {
    expect(readLicenseEnvelope(text)).toEqual({
      kid: signer.kid,
      claims: JSON.parse(Buffer.from(body, 'base64url').toString()),
      signed: `${head}.${body}`,
      signature: Buffer.from(tail, 'base64url'),
      signedKey: '7Q2RM-K9X0B-3FTW6-HN4ZD-85SB5',
    });
  });

  it('does not mind white space around the JSON, or members that it does not know', () => {
    const known = readLicenseEnvelope(text);
    expect(readLicenseEnvelope(`\n${JSON.stringify({ ...file, added: 'later' }, null, 2)}\n`)).toEqual(known);
    expect(readLicenseEnvelope(withHeader({ ...header, cty: 'x' }))?.kid).toBe(signer.kid);
  });

  it.each([
    ['no text', ''],
    ['text that is not JSON', 'lkm-lic/1'],
    ['JSON that is not an object', '[]'],
    ['null', 'null'],
    ['the answer around the file', JSON.stringify({ file: text })],
    ['another format', withMember('format', 'lkm-lic/2')],
    ...['format', 'licenseToken', 'signedKey', 'keyId'].map((name) => [`no ${name}`, withMember(name, undefined)]),
    ['a token that is not text', withMember('licenseToken', [head, body, tail])],
    ['a token of two parts', withMember('licenseToken', `${head}.${body}`)],
    ['a token of four parts', withMember('licenseToken', `${head}.${body}.${tail}.`)],
    ['a keyId that is not the token’s', withMember('keyId', 'another')],
    ['a header that is not JSON', withMember('licenseToken', `e30x.${body}.${tail}`)],
    ['claims that are not ours', withMember('licenseToken', `${head}.e30.${tail}`)],
    ['padding', withMember('licenseToken', `${head}.${body}.${tail}==`)],
    ['base64 instead of base64url', withMember('licenseToken', `${head}.${body}.++//`)],
    ['white space in the token', withMember('licenseToken', `${head}.${body}. ${tail}`)],
    ...['none', 'None', 'HS256', 'ES256', 'eddsa', 'Ed25519', undefined].map((alg) => [
      `alg ${alg}`,
      withHeader({ ...header, alg }),
    ]),
    ['another typ', withHeader({ ...header, typ: 'JWT' })],
    ['no kid', withHeader({ ...header, kid: undefined })],
    ['crit, even when it asks for nothing', withHeader({ ...header, crit: [] })],
    ['crit', withHeader({ ...header, crit: ['b64'], b64: false })],
  ])('refuses %s', (_, text) => {
    expect(readLicenseEnvelope(text ?? '')).toBeNull();
  });

  it('refuses a signature whose spare bits are set', () => {
    const spare: Record<string, string> = { A: 'B', Q: 'R', g: 'h', w: 'x' };
    const respelt = tail.slice(0, -1) + spare[tail.slice(-1)];
    expect(Buffer.from(respelt, 'base64url')).toEqual(Buffer.from(tail, 'base64url'));
    expect(readLicenseEnvelope(withMember('licenseToken', `${head}.${body}.${respelt}`))).toBeNull();
  });

  it('reads up to 64 KiB, counted in bytes', () => {
    const space = 64 * 1024 - text.length;
    expect(readLicenseEnvelope(text + ' '.repeat(space))).not.toBeNull();
    expect(readLicenseEnvelope(text + ' '.repeat(space + 1))).toBeNull();
    expect(readLicenseEnvelope(withMember('note', 'é'.repeat(space / 2)))).toBeNull();
  });
});

function withMember(name: string, value: unknown): string {
  return JSON.stringify({ ...file, [name]: value });
}

function withHeader(header: object): string {
  const part = Buffer.from(JSON.stringify(header)).toString('base64url');
  return withMember('licenseToken', `${part}.${body}.${tail}`);
}
