import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/domain/canonical-json.ts';

describe('canonicalJson', () => {
  // RFC 8785 §3.2.2 and §3.2.3.
  it('writes the example of the RFC', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts names by UTF-16 code units, those that look like numbers too', () => {
    const sorted = ['\r', '1', '10', '9', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'];
    const value = Object.fromEntries(sorted.toReversed().map((name) => [name, 0]));
    expect([...canonicalJson(value).matchAll(/"([^"]+)":/g)].map(([, name]) => name)).toEqual([
      '\\r',
      ...sorted.slice(1),
    ]);
  });

  it('refuses what is not JSON', () => {
    const others = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      undefined,
      () => {},
      '\ud800',
      { '\udc00': 1 },
      { a: undefined },
    ];
    for (const value of others) expect(() => canonicalJson(value)).toThrow(TypeError);
  });

  it('writes a value the same, whether its names come in order or not', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(text).toBe(canonicalJson(reversed(value)));
        expect(text).toBe(canonicalJson(JSON.parse(text)));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

/** The same value with the members of each object in the order from Z to A, as far as JavaScript lets them. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, reversed(member)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? 1 : -1)));
}
