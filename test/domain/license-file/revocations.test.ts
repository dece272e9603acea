import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/contract/scalars.ts';
import { signJws } from '../../../src/domain/license-file/jws.ts';
import {
  type RevocationFacts,
  readRevocations,
  signRevocations,
} from '../../../src/domain/license-file/revocations.ts';
import { createSigner, signLicenseFile, toJwk } from '../../../src/domain/license-file/sign.ts';
import { type Verdict, verifyLicenseFile } from '../../../src/domain/license-file/verify.ts';
import { toInstant } from '../../../src/domain/time.ts';
import { hostId, licenseWith, now, privatePems, publicPemOf } from '../examples.ts';

const [ours, theirs] = [createSigner(privatePems[0]), createSigner(privatePems[1])];
const keys = privatePems.map((pem) => toJwk(publicPemOf(pem)));
const [ourJwk] = keys;
const at = Date.parse('2026-11-21T10:00:00Z') / 1_000;
const DAY = 86_400;

const content = { iss: 'acc_1', seq: 7, files: ['fil_9'], licenses: ['lic_9'] };
const facts: RevocationFacts = { ...content, now: at, changedAt: null };
const listWith = (changes: Partial<RevocationFacts>) => signRevocations(ours, { ...facts, ...changes });
const read = (token: string, more: { issuer?: string; now?: number; keys?: typeof keys } = {}) =>
  readRevocations(token, { keys, issuer: 'acc_1', now: at, ...more });

describe('a revocation list', () => {
  it('states what was revoked, for thirty days', () => {
    expect(read(listWith({}))).toEqual({ ...content, iat: at, exp: at + 30 * DAY });
    const [header = ''] = listWith({}).split('.');
    const known = { alg: 'EdDSA', typ: 'lic-rev+jwt', kid: ours.kid };
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual(known);
  });

  it('is the same text for an hour, and dated from its last change', () => {
    expect(listWith({ now: at + 3_599 })).toBe(listWith({}));
    expect(read(listWith({ now: at + 3_600 }))).toMatchObject({ iat: at + 3_600 });
    expect(read(listWith({ now: at + 99, changedAt: at + 70 }))).toMatchObject({ iat: at + 70 });
    expect(read(listWith({ now: at + 3_700, changedAt: at + 70 }))).toMatchObject({ iat: at + 3_600 });
  });

  it('may be read until its end, with white space around it', () => {
    expect(read(`\n${listWith({})}\n`, { now: at + 30 * DAY - 1 })).toMatchObject({ seq: 7 });
    expect(read(listWith({}), { now: at + 30 * DAY })).toBe('revocations_expired');
  });

  const claims = { iss: 'acc_1', iat: at, exp: at + 1, seq: 1, files: [], licenses: [] };
  const withClaims = (changes: object) => signJws(ours, 'lic-rev+jwt', { ...claims, ...changes });

  it.each([
    ['of another account', listWith({ iss: 'acc_2' })],
    ['that is empty', ''],
    ['without a signature', listWith({}).replace(/[^.]*$/, '')],
    ['with one byte changed', listWith({}).replace(/\.(.)/, (_, first) => `.${first === 'a' ? 'b' : 'a'}`)],
    ['with the signature of another list', listWith({}).replace(/[^.]*$/, listWith({ seq: 8 }).split('.')[2] ?? '')],
    ['of another type', signJws(ours, 'lic+jwt', claims)],
    ['without an end', withClaims({ exp: undefined })],
    ['without a number', withClaims({ seq: '1' })],
    ['whose files are not texts', withClaims({ files: [1] })],
    ['whose licences are no list', withClaims({ licenses: 'lic_1' })],
    ['of more than 16 MiB', listWith({ files: ['x'.repeat(13 * 1024 * 1024)] })],
  ])('is refused %s', (_, token) => {
    expect(read(token)).toBe('revocations_invalid');
  });

  it('is refused under keys that did not sign it', () => {
    expect(read(listWith({}), { keys: keys.filter(({ kid }) => kid !== ours.kid) })).toBe('revocations_invalid');
    const swapped = keys.map((key, i) => ({ ...key, x: keys[1 - i]?.x ?? '' }));
    expect(read(listWith({}), { keys: swapped })).toBe('revocations_invalid');
    expect(read(signRevocations(theirs, facts))).toMatchObject({ seq: 7 });
  });
});

describe('a licence file beside a revocation list', () => {
  const text = signLicenseFile(ours, {
    id: 'fil_1',
    license: licenseWith(),
    customer: null,
    hostId,
    now,
    expiresAt: '2027-11-21T11:00:00.000Z' as Instant,
  });
  const verdict = (revocations: string, more: { now?: Instant; watermark?: number; hostId?: string } = {}): Verdict =>
    verifyLicenseFile(text, { keys: ourJwk ? [ourJwk] : [], now, hostId, revocations, ...more }).verdict;

  it.each<[string, string, Verdict]>([
    ['that names others', listWith({}), 'ok'],
    ['that names it', listWith({ files: ['fil_0', 'fil_1'] }), 'revoked'],
    ['that names its licence', listWith({ licenses: ['lic_0', 'lic_1'] }), 'revoked'],
    ['that names its licence among the files', listWith({ files: ['lic_1'] }), 'ok'],
    ['of another account', listWith({ iss: 'acc_2' }), 'revocations_invalid'],
    ['that another key has signed', signRevocations(theirs, facts), 'revocations_invalid'],
    ['that is none', '{}', 'revocations_invalid'],
    ['that has ended', listWith({ now: at - 30 * DAY }), 'revocations_expired'],
  ])('%s', (_, list, expected) => {
    expect(verdict(list)).toBe(expected);
  });

  it('is judged by the watermark, and is revoked before anything else is said of it', () => {
    expect(verdict(listWith({}), { watermark: at + 30 * DAY })).toBe('revocations_expired');
    const list = listWith({ files: ['fil_1'] });
    expect([verdict(list, { hostId: 'host-2' }), verdict(list, { watermark: at + DAY })]).toEqual([
      'revoked',
      'revoked',
    ]);
  });

  it('moves the watermark to the date of a list that counts, and to that of no other', () => {
    const check = (revocations: string, more: { now?: Instant; watermark?: number } = {}) =>
      verifyLicenseFile(text, { keys, now, revocations, ...more });
    const newer = listWith({ now: at + DAY, seq: 8 });
    const { iat } = Object(read(newer));
    const moved = { watermark: iat, revocations: { seq: 8, issuedAt: iat } };
    expect(check(newer, { now: toInstant((at + DAY) * 1_000) })).toMatchObject({ ...moved, watermark: at + DAY });
    expect(check(newer)).toMatchObject({ ...moved, verdict: 'clock_rolled_back' });
    expect(check(listWith({}), { watermark: iat })).toMatchObject({ watermark: iat, revocations: { seq: 7 } });
    const others = signRevocations(theirs, { ...facts, now: at + DAY, iss: 'acc_2' });
    expect(check(others)).toMatchObject({ watermark: at, revocations: null });
  });
});
