import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/contract/errors.ts';
import { contract } from '../../src/contract/index.ts';
import { readInput } from '../../src/server/http/input.ts';
import { absentIds } from '../support/requests.ts';

const { productId } = absentIds;
const MANY = 70_000;

const bad = (length: number) => Array.from({ length }, (_, i) => i);
const badMembers = Object.fromEntries(bad(MANY).map((i) => [`n${i}`, null]));

describe('an input with far too many parts', () => {
  it.each([
    ['features', contract.keys.create, { productId, metadata: { features: badMembers } }],
    ['free metadata', contract.keys.create, { productId, metadata: badMembers }],
    ['allowed hosts', contract.keys.create, { productId, allowedHosts: bad(MANY) }],
    ['scopes', contract.tokens.create, { name: 'n', kind: 'scoped', scopes: bad(MANY) }],
    ['products of a token', contract.tokens.create, { name: 'n', kind: 'client', productIds: bad(MANY) }],
  ] as const)('is refused for their number alone, before any of them is looked at: %s', (_, endpoint, body) => {
    const { issues = [] } = endpoint.body?.safeParse(body).error ?? {};
    expect(issues.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Too big: at most \d+ (items|members)$/),
    ]);
  });
});

describe('the fields that a 400 names', () => {
  const fieldsOf = (body: unknown): readonly string[] => {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const get = (name: string) => (name === 'content-type' ? 'application/json' : null);
    const request = {
      method: 'POST',
      target: '/create-key',
      headers: { get, lines: () => [] },
      peer: '127.0.0.1',
      readBody: async () => bytes,
    };
    try {
      readInput(contract.keys.create, request, bytes);
    } catch (error) {
      if (error instanceof ApiError) return error.fields;
      throw error;
    }
    throw new Error('the input was accepted');
  };

  it('are the first ten that are wrong', () => {
    const fields = fieldsOf({ productId, allowedHosts: bad(1_000) });
    expect(fields).toEqual(Array.from({ length: 10 }, (_, at) => `allowedHosts.${at}`));
  });

  it('repeat no more than the beginning of a name that the caller has chosen', () => {
    const [field, ...more] = fieldsOf({ productId, metadata: { features: { ['x'.repeat(100_000)]: true } } });
    expect(field).toMatch(/^metadata\.features/);
    expect(field?.length).toBeLessThanOrEqual(100);
    expect(more).toEqual([]);
  });
});
