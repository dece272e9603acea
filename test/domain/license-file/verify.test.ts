import { createHmac, createPrivateKey, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/contract/scalars.ts';
import { createSigner, type FileFacts, signLicenseFile, toJwk } from '../../../src/domain/license-file/sign.ts';
import {
  readLicenseEnvelope,
  type Verdict,
  type VerifyOptions,
  verifyLicenseFile,
} from '../../../src/domain/license-file/verify.ts';
import { hostId, licenseWith, now, privatePems, publicPemOf } from '../examples.ts';

const at = (time: string) => `2026-11-21T${time}Z` as Instant;
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

const [ours, theirs] = [createSigner(privatePems[0]), createSigner(privatePems[1])];
const [ourJwk, theirJwk] = [toJwk(publicPemOf(privatePems[0])), toJwk(publicPemOf(privatePems[1]))];
const facts: FileFacts = {
  id: 'fil_1',
  license: licenseWith(),
  customer: { id: 'cus_1', name: 'Zoë' },
  hostId,
  now,
  expiresAt: '2026-11-21T11:00:00.900Z' as Instant,
};
const text = signLicenseFile(ours, facts);
const file = JSON.parse(text);
const [head = '', body = '', tail = ''] = file.licenseToken.split('.');
const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
const fileWith = (changes: object) => JSON.stringify({ ...file, ...changes });
const withHeader = (header: object) => fileWith({ licenseToken: `${encode(header)}.${body}.${tail}` });
const header = { alg: 'EdDSA', typ: 'lic+jwt', kid: ours.kid };

/** Now, in whole seconds since 1970. */
const watermark = claims.iat;

const nothing = { claims: null, watermark, revocations: null };

/** Everything as it should be. */
const options: VerifyOptions = { keys: [theirJwk, ourJwk], now, hostId, productId: facts.license.productId };

describe('verifyLicenseFile', () => {
  it('finds a file in order, and says what it states', () => {
    expect(verifyLicenseFile(text, options)).toEqual({ verdict: 'ok', claims, watermark, revocations: null });
  });

  it('holds a file against no host or product that it is not given', () => {
    expect(verifyLicenseFile(text, { keys: [ourJwk], now }).verdict).toBe('ok');
  });

  it.each<[string, Partial<VerifyOptions>, Verdict]>([
    ['no key', { keys: [] }, 'unknown_kid'],
    ['another key only', { keys: [theirJwk] }, 'unknown_kid'],
    ['another key under this kid', { keys: [{ ...theirJwk, kid: ourJwk.kid }] }, 'signature_invalid'],
    ['its key revoked', { revoked: new Set([ourJwk.kid]) }, 'revoked'],
    ['its id revoked', { revoked: new Set(['fil_1']) }, 'revoked'],
    ['others revoked', { revoked: new Set([theirJwk.kid, 'fil_2', 'lic_1']) }, 'ok'],
    ['a clock set back by more than 60 s', { watermark: watermark + 61 }, 'clock_rolled_back'],
    ['a clock that was put right', { watermark: watermark + 60 }, 'ok'],
    ['a clock that stands still', { watermark }, 'ok'],
    ['a watermark after the end', { now: at('10:59:59.000'), watermark: claims.exp }, 'token_expired'],
    ['a clock 60 s behind', { now: at('09:59:00.000') }, 'ok'],
    ['a clock more than 60 s behind', { now: at('09:58:59.999') }, 'not_yet_valid'],
    ['the last millisecond', { now: at('10:59:59.999') }, 'ok'],
    ['the end of its last whole second', { now: at('11:00:00.000') }, 'token_expired'],
    ['another host', { hostId: 'host-2' }, 'machine_mismatch'],
    ['a host of other case', { hostId: 'HOST-1' }, 'machine_mismatch'],
    ['no host name', { hostId: '' }, 'machine_mismatch'],
    ['another product', { productId: 'prod_0000000000000000000002' }, 'product_mismatch'],
  ])('against %s', (_, changes, verdict) => {
    const signed = verdict !== 'unknown_kid' && verdict !== 'signature_invalid';
    expect(verifyLicenseFile(text, { ...options, ...changes })).toEqual({
      verdict,
      claims: signed ? claims : null,
      watermark: expect.any(Number),
      revocations: null,
    });
  });

  it('names the first of several faults', () => {
    const faults: [Verdict, Partial<VerifyOptions>][] = [
      ['revoked', { revoked: new Set(['fil_1']) }],
      ['clock_rolled_back', { watermark: watermark + 13 * 3_600 }],
      ['token_expired', { now: at('12:00:00.000') }],
      ['machine_mismatch', { hostId: 'host-2' }],
      ['product_mismatch', { productId: 'another' }],
      ['ok', {}],
    ];
    const verdicts = faults.map((_, first) => {
      const rest = faults.slice(first).map(([, changes]) => changes);
      return verifyLicenseFile(text, Object.assign({}, options, ...rest)).verdict;
    });
    expect(verdicts).toEqual(faults.map(([verdict]) => verdict));
  });

  it('finds every file that was signed, for its host and until it expires', () => {
    const features = fc.dictionary(fc.string(), fc.oneof(fc.boolean(), fc.integer(), fc.string()));
    const name = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(features, name, fc.boolean(), (features, name, isTrial) => {
        const license = licenseWith({ features, isTrial });
        const signed = signLicenseFile(ours, { ...facts, license, customer: { id: 'cus_1', name } });
        const { verdict, claims } = verifyLicenseFile(signed, options);
        expect([verdict, claims?.customer?.name, claims?.is_trial]).toEqual(['ok', name, isTrial]);
        expect(JSON.stringify(claims?.features)).toBe(JSON.stringify(features));
      }),
    );
  });
});

describe('the watermark', () => {
  const watermarkAfter = (changes: Partial<VerifyOptions>) =>
    verifyLicenseFile(text, { ...options, ...changes }).watermark;

  it('is the latest of the clock, the watermark before and the date of the file', () => {
    expect(watermarkAfter({})).toBe(watermark);
    expect(watermarkAfter({ now: at('10:30:00.999') })).toBe(watermark + 1_800);
    expect(watermarkAfter({ watermark: watermark - 5 })).toBe(watermark);
    expect(watermarkAfter({ watermark: watermark + 90_000 })).toBe(watermark + 90_000);
    expect(watermarkAfter({ now: at('09:00:00.000') })).toBe(watermark);
  });

  it('is not moved by the date of a file that no key has signed', () => {
    expect(watermarkAfter({ now: at('09:00:00.000'), keys: [theirJwk] })).toBe(watermark - 3_600);
  });

  it.each<[string, unknown]>([
    ['no number', Number('abc')],
    ['endless', Number.POSITIVE_INFINITY],
    ['endlessly early', Number.NEGATIVE_INFINITY],
    ['negative', -1],
    ['a fraction', watermark + 0.5],
    ['beyond whole numbers', 2 ** 53],
    ['a text', String(watermark)],
    ['an object', {}],
  ])('counts as a clock set back when it is %s, and the next one is a time', (_, given) => {
    const check = (now: Instant) => verifyLicenseFile(text, { ...options, now, watermark: given as number });
    expect(check(now)).toMatchObject({ verdict: 'clock_rolled_back', watermark });
    expect(check(at('11:00:00.000'))).toMatchObject({ verdict: 'clock_rolled_back', watermark: claims.exp });
  });
});

describe('a forged file', () => {
  it('is found with any single bit of the token flipped', () => {
    const token = Buffer.from(file.licenseToken);
    for (let bit = 0; bit < token.length * 8; bit++) {
      const flipped = Buffer.from(token);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      const verdict = expect.stringMatching(/^(token_malformed|signature_invalid)$/);
      const forged = fileWith({ licenseToken: flipped.toString('latin1') });
      expect(verifyLicenseFile(forged, options)).toEqual({ verdict, ...nothing });
    }
  });

  it('never makes the verifier throw, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), fc.string(), (text, licenseToken) => {
        expect(verifyLicenseFile(text, options).verdict).toBe('token_malformed');
        expect(verifyLicenseFile(fileWith({ licenseToken }), options).verdict).toBe('token_malformed');
      }),
    );
  });

  const changed = encode({ ...claims, machine: 'host-2' });
  const hmac = (signed: string) => createHmac('sha256', publicPemOf(privatePems[0])).update(signed).digest('base64url');
  const signedBy = (pem: string, signed: string) =>
    sign(null, Buffer.from(signed), createPrivateKey(pem)).toString('base64url');
  const none = encode({ ...header, alg: 'none' });
  const hs256 = encode({ ...header, alg: 'HS256' });
  const embedded = encode({ ...header, jwk: theirJwk });
  const foreign = encode({ ...header, kid: theirs.kid });

  it.each<[string, string, Verdict]>([
    ['changed claims', `${head}.${changed}.${tail}`, 'signature_invalid'],
    ['no signature', `${head}.${body}.`, 'signature_invalid'],
    ['a signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`, 'signature_invalid'],
    ['half a signature', `${head}.${body}.${tail.slice(0, 44)}`, 'signature_invalid'],
    ['alg none', `${none}.${changed}.`, 'token_malformed'],
    ['HS256 with the public key as secret', `${hs256}.${changed}.${hmac(`${hs256}.${changed}`)}`, 'token_malformed'],
    ['another key', `${head}.${changed}.${signedBy(privatePems[1], `${head}.${changed}`)}`, 'signature_invalid'],
    [
      'its own key in the header',
      `${embedded}.${changed}.${signedBy(privatePems[1], `${embedded}.${changed}`)}`,
      'signature_invalid',
    ],
    [
      'a kid other than the envelope’s',
      `${foreign}.${changed}.${signedBy(privatePems[1], `${foreign}.${changed}`)}`,
      'token_malformed',
    ],
  ])('is found with %s', (_, licenseToken, verdict) => {
    expect(verifyLicenseFile(fileWith({ licenseToken }), options)).toEqual({ verdict, ...nothing });
  });

  it('is found with another key or keyId on the envelope', () => {
    const verdictWith = (changes: object) => verifyLicenseFile(fileWith(changes), options);
    expect(verdictWith({ signedKey: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' })).toEqual({
      verdict: 'signature_invalid',
      ...nothing,
    });
    expect(verdictWith({ keyId: theirs.kid })).toEqual({ verdict: 'token_malformed', ...nothing });
  });
});

describe('readLicenseEnvelope', () => {
  it('does not mind white space around the JSON, or members that it does not know', () => {
    const known = readLicenseEnvelope(text);
    expect(readLicenseEnvelope(`\n${JSON.stringify({ ...file, added: 'later' }, null, 2)}\n`)).toEqual(known);
    expect(readLicenseEnvelope(withHeader({ ...header, cty: 'x' }))?.kid).toBe(ours.kid);
  });

  it.each([
    ['no text', ''],
    ['text that is not JSON', 'lkm-lic/1'],
    ['JSON that is not an object', '[]'],
    ['null', 'null'],
    ['the answer around the file', JSON.stringify({ file: text })],
    ['another format', fileWith({ format: 'lkm-lic/2' })],
    ...['format', 'licenseToken', 'signedKey', 'keyId'].map((name) => [`no ${name}`, fileWith({ [name]: undefined })]),
    ['a token that is not text', fileWith({ licenseToken: [head, body, tail] })],
    ['a token of two parts', fileWith({ licenseToken: `${head}.${body}` })],
    ['a token of four parts', fileWith({ licenseToken: `${head}.${body}.${tail}.` })],
    ['a keyId that is not the token’s', fileWith({ keyId: 'another' })],
    ['a header that is not JSON', fileWith({ licenseToken: `e30x.${body}.${tail}` })],
    ['claims that are not ours', fileWith({ licenseToken: `${head}.e30.${tail}` })],
    ['padding', fileWith({ licenseToken: `${head}.${body}.${tail}==` })],
    ['base64 instead of base64url', fileWith({ licenseToken: `${head}.${body}.++//` })],
    ['white space in the token', fileWith({ licenseToken: `${head}.${body}. ${tail}` })],
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
    expect(readLicenseEnvelope(fileWith({ licenseToken: `${head}.${body}.${respelt}` }))).toBeNull();
  });

  it('reads up to 64 KiB, counted in bytes', () => {
    const space = 64 * 1024 - text.length;
    expect(readLicenseEnvelope(text + ' '.repeat(space))).not.toBeNull();
    expect(readLicenseEnvelope(text + ' '.repeat(space + 1))).toBeNull();
    expect(readLicenseEnvelope(fileWith({ note: 'é'.repeat(space / 2) }))).toBeNull();
  });
});
