import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFolder } from '../support/engines.ts';
import { compile, makeHouse, run } from './drill.ts';
import { patchProduct } from './patch-product.ts';
import { streamCustomers } from './stream-customers.ts';

let folder: Awaited<ReturnType<typeof createFolder>>;
beforeAll(async () => {
  folder = await createFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

describe('PATCH /product with three optional fields', () => {
  it('takes at most three files', () => {
    expect(patchProduct.length).toBeLessThanOrEqual(5);
  });

  it('compiles, and without any one of its files the compiler says what is missing', async () => {
    const whole = join(folder.path, 'whole');
    makeHouse(whole, patchProduct);
    expect(await compile(whole)).toBe('');
    await Promise.all(
      patchProduct.map(async ({ file, withoutIt }, index) => {
        const part = join(folder.path, `without-${index}`);
        makeHouse(part, patchProduct, file);
        expect(await compile(part, whole)).toMatch(withoutIt);
      }),
    );
  });

  it('is served', async () => {
    const house = join(folder.path, 'served');
    makeHouse(house, patchProduct);
    expect(await run(house, 'patch-product.run.ts', folder.path)).toEqual([
      [0, 'Editor 2', true],
      [0, 'Editor 2', false],
      [5, null, null],
    ]);
  });
});

describe('a stream of NDJSON from a list of 100 000 rows', () => {
  it('takes at most five files', () => {
    expect(streamCustomers.length).toBeLessThanOrEqual(5);
  });

  it('is read from the database no faster than the caller takes it', async () => {
    const house = join(folder.path, 'streaming');
    makeHouse(house, streamCustomers);
    expect(await compile(house)).toBe('');
    const seen = await run(house, 'stream-customers.run.ts', house, '100000');
    expect(seen).toEqual({
      statusCode: 200,
      type: 'application/x-ndjson',
      arrived: 100_000,
      produced: 100_000,
      isHeld: true,
      // The buffers of the connection hold some thousand rows.
      mostInBetween: expect.toSatisfy((count: number) => count < 30_000),
    });
  });
});
