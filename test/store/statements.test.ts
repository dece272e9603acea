import { describe, expect, it } from 'vitest';
import { createSharedCounter, type RateCounter } from '../../src/server/http/rate-counters.ts';
import { engines } from '../support/engines.ts';
import { nameOf, recordStatements } from '../support/statements.ts';
import { bodyOf, createWorld } from '../support/world.ts';

describe.each(engines.filter(({ name }) => name === 'PostgreSQL'))(
  'on $name, where a comma is a round trip,',
  (engine) => {
    it('the operations of the main job send these statements and no others', async () => {
      let shared: RateCounter | undefined;
      const counterOf = () => shared as RateCounter;
      const counter: RateCounter = {
        take: (name, rate) => counterOf().take(name, rate),
        look: (name, rate) => counterOf().look(name, rate),
      };
      await using world = await createWorld({ engine, counter });
      const { rates } = world.store;
      if (rates === null) throw new Error('replicas share no rates');
      const onFailure = (error: unknown) => {
        throw error;
      };
      shared = createSharedCounter(rates, { now: () => 0, onFailure });
      const { id: productId } = await world.product();
      const address = { productId, licenseKey: await world.key({ productId }) };
      const sign = { ...address, hostId: 'host-1', ttl: 86_400 };
      const once = { 'Idempotency-Key': 'order-1' };
      const sent = async (method: 'GET' | 'POST', path: string, body?: object, headers?: Record<string, string>) => {
        const statements = await recordStatements(async () =>
          bodyOf(await world.call('admin', method, path, body, headers)),
        );
        return statements
          .map((one) => (one.isWithPrevious ? ' + ' : ', ') + nameOf(one))
          .join('')
          .slice(2);
      };
      expect({
        create: await sent('POST', '/create-key', { productId }),
        'create, under a key': await sent('POST', '/create-key', { productId }, once),
        'create, replayed': await sent('POST', '/create-key', { productId }, once),
        get: await sent('GET', `/key?${new URLSearchParams(address)}`),
        sign: await sent('POST', '/key/sign', sign),
        'sign, once more': await sent('POST', '/key/sign', sign),
      }).toMatchInlineSnapshot(`
        {
          "create": "select tokens, insert rates, begin + select products, insert licenses + insert outbox + commit",
          "create, replayed": "select tokens, insert rates, begin + select pg_try_advisory_xact_lock + select idempotency, commit",
          "create, under a key": "select tokens, insert rates, begin + select pg_try_advisory_xact_lock + select idempotency, savepoint nested + select products, insert licenses + insert outbox + release nested + insert idempotency + commit",
          "get": "select tokens, insert rates, select licenses",
          "sign": "select tokens, insert rates, begin + select licenses, select devices, update licenses, insert devices, insert license_words + select signing_keys, insert license_files + insert outbox + commit",
          "sign, once more": "select tokens, insert rates, begin + select licenses, select devices, select licenses, select devices, select signing_keys, insert license_files + insert outbox + commit",
        }
      `);
    });
  },
);
