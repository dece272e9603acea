import { describe, expect, it } from 'vitest';
import { fuzz } from '../fuzz/fuzz.ts';
import { engines } from '../support/engines.ts';

describe.each(engines)('requests made from the OpenAPI document, valid and broken, on $name', (engine) => {
  it('are all answered as the contract says', { timeout: 60_000 }, async () => {
    const { problems, statuses } = await fuzz(engine, { requests: 1_500, seed: 12 });
    expect(problems).toEqual([]);
    // They come far enough: a good part succeeds, and every kind of refusal is met.
    expect(statuses.get(200)).toBeGreaterThan(150);
    for (const status of [201, 400, 401, 403, 404, 409]) expect(statuses.has(status), `${status}`).toBe(true);
  });
});
