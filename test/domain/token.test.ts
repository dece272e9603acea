import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tokenKinds } from '../../src/contract/scopes.ts';
import { findTokens, hashToken, isWellFormedToken, maskSecrets, mintToken } from '../../src/domain/token.ts';

const zeros = new Uint8Array(32);
const minted = fc
  .tuple(fc.constantFrom(...tokenKinds), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([kind, random]) => mintToken(kind, random));

it('writes kind, secret and checksum', () => {
  expect(mintToken('read-only', zeros)).toBe(`lkm_read-only_${'0'.repeat(52)}8apa9xr`);
  for (const length of [0, 31, 33]) expect(() => mintToken('admin', new Uint8Array(length))).toThrow(RangeError);
});

it('knows a whole token of any kind from one with a wrong character, cut short, lengthened or in capitals', () => {
  const symbols = '0123456789abcdefghjkmnpqrstvwxyz_-';
  fc.assert(
    fc.property(minted, fc.nat(), fc.constantFrom(...symbols), (token, n, wrong) => {
      const at = n % token.length;
      expect(isWellFormedToken(token.slice(0, at) + wrong + token.slice(at + 1))).toBe(token[at] === wrong);
      expect(isWellFormedToken(token)).toBe(true);
      const others = [token.slice(0, -1), `${token}0`, `${token}\n`, token.toUpperCase()];
      expect(others.filter(isWellFormedToken)).toEqual([]);
    }),
    { numRuns: 1000 },
  );
  expect(isWellFormedToken(mintToken('root' as 'admin', zeros))).toBe(false);
});

// As after a line break in JSON, %20 in an address, or the name of a variable.
it.each(['', ' ', '"', '=', '\\n', '%20', 'X_', 'é', ':'])('finds a token in a text behind %j', (before) => {
  const token = mintToken('admin', zeros);
  const text = `${before}${token}"`;
  expect(findTokens(text)).toEqual([{ index: before.length, token, kind: 'admin', isWhole: true }]);
  expect(maskSecrets(text)).toBe(`${before}lkm_admin_…"`);
});

it('keeps the hex SHA-256 of a token', () => {
  expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

it('masks the secret of a webhook too', () => {
  expect(maskSecrets("no webhook 'whsec_c2VjcmV0+/=='")).toBe("no webhook 'whsec_…'");
});
