import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tokenKinds } from '../../src/contract/scopes.ts';
import { findTokens, hashToken, isWellFormedToken, mintToken, withoutTokens } from '../../src/domain/token.ts';

const minted = fc
  .tuple(fc.constantFrom(...tokenKinds), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([kind, random]) => mintToken(kind, random));

describe('mintToken', () => {
  it('writes kind, secret and checksum', () => {
    expect(mintToken('read-only', new Uint8Array(32))).toBe(`lkm_read-only_${'0'.repeat(52)}8apa9xr`);
  });

  it('makes well-formed tokens of every kind', () => {
    fc.assert(
      fc.property(minted, (token) => {
        expect(isWellFormedToken(token)).toBe(true);
      }),
    );
  });

  it.each([0, 31, 33])('refuses %d random bytes', (length) => {
    expect(() => mintToken('admin', new Uint8Array(length))).toThrow(RangeError);
  });
});

describe('isWellFormedToken', () => {
  it('finds every single wrong character', () => {
    const symbols = '0123456789abcdefghjkmnpqrstvwxyz_-';
    fc.assert(
      fc.property(minted, fc.nat(), fc.constantFrom(...symbols), (token, n, wrong) => {
        const at = n % token.length;
        expect(isWellFormedToken(token.slice(0, at) + wrong + token.slice(at + 1))).toBe(token[at] === wrong);
      }),
      { numRuns: 1000 },
    );
  });

  it('finds a token cut short, lengthened or written in capitals', () => {
    fc.assert(
      fc.property(minted, (token) => {
        expect(isWellFormedToken(token.slice(0, -1))).toBe(false);
        expect(isWellFormedToken(`${token}0`)).toBe(false);
        expect(isWellFormedToken(`${token}\n`)).toBe(false);
        expect(isWellFormedToken(token.toUpperCase())).toBe(false);
      }),
    );
  });

  it('refuses a kind that does not exist', () => {
    const [admin, root] = [mintToken('admin', new Uint8Array(32)), mintToken('root' as 'admin', new Uint8Array(32))];
    expect([isWellFormedToken(admin), isWellFormedToken(root)]).toEqual([true, false]);
  });
});

describe('a token in a text', () => {
  // As after a line break in JSON, %20 in an address, or the name of a variable.
  it.each(['', ' ', '"', '=', '\\n', '%20', 'X_', 'é', ':'])('is found behind %j', (before) => {
    const token = mintToken('admin', new Uint8Array(32));
    const text = `${before}${token}"`;
    expect(findTokens(text)).toEqual([{ index: before.length, token, kind: 'admin', isWhole: true }]);
    expect(withoutTokens(text)).toBe(`${before}lkm_admin_…"`);
  });
});

describe('hashToken', () => {
  it('is the hex SHA-256 of the text', () => {
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
