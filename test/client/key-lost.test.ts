import { createHash } from 'node:crypto';
import { HttpResponse } from 'msw';
import { describe, expect, test } from 'vitest';
import { outcomeUnknown } from '../../src/client/errors.ts';
import { ProtocolError } from '../../src/index.ts';
import { issued, productId } from './examples.ts';
import { type Answer, json, scriptedClient, scriptedService } from './scripted-service.ts';

const service = scriptedService();
const idempotencyKey = 'key-1';
const SEEN = createHash('sha256').update(idempotencyKey).digest('hex').slice(0, 12);

const answering = (seen: string | null, status = 200) =>
  json(
    status === 200 ? issued : { message: 'no', code: 1 },
    status,
    seen === null ? {} : { 'LKM-Idempotency-Key': seen },
  );
const lost = () => HttpResponse.error();

/** What comes of a change where these are the answers, how many requests it took, and how often the loss was told. */
async function create(...answers: readonly Answer[]) {
  const told: string[] = [];
  const { client } = scriptedClient({ onKeyLost: (operation) => told.push(operation) });
  const seen = service.script(...answers);
  const result = await client.keys.create({ productId }, { idempotencyKey }).catch((error: unknown) => error);
  return { result, requests: seen.length, told };
}

describe('a service that says which idempotency key it saw', () => {
  test.each([
    ['the key', SEEN],
    ['nothing of it, as other services', null],
  ])('is believed with %s, also after a lost response', async (_, seen) => {
    expect(await create(lost, answering(seen))).toMatchObject({ result: { key: issued.key }, requests: 2, told: [] });
  });

  test('has its first response count without the key, and the loss is told', async () => {
    const told = ['POST /create-key'];
    expect(await create(answering('none'))).toMatchObject({ result: { key: issued.key }, requests: 1, told });
  });

  test.each(['none', '000000000000'])('%s leaves the outcome unknown after a lost response', async (seen) => {
    const { result, requests } = await create(lost, answering(seen));
    expect(requests).toBe(2);
    expect(result).toBeInstanceOf(ProtocolError);
    expect(result).toMatchObject({ keyLost: true, status: 200, call: { idempotencyKey } });
    expect(outcomeUnknown(result)).toBe(true);
  });

  test('is not asked again without the key after a failure in which it may have run', async () => {
    const { result, requests } = await create(answering('none', 500), answering('none'));
    expect([requests, outcomeUnknown(result)]).toEqual([1, true]);
  });

  test('is asked again without the key after a refusal in which it has not run', async () => {
    expect(await create(answering('none', 503), answering('none'))).toMatchObject({
      requests: 2,
      result: { key: issued.key },
    });
  });
});
