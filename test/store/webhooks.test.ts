import { describe, expect } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { STARTED_AT } from '../support/world.ts';

describe.each(engines)('webhooks with something to send on $name', (engine) => {
  const it = testsOn(engine);

  it('are served in turn, those that never were first', async ({ it }) => {
    for (const name of ['a', 'b', 'c']) await it.webhook(`http://127.0.0.1:9/${name}`);
    await it.happen(1);
    const { store } = it.world;
    const due = async (realTime: Instant) => {
      const found = await store.repositories.webhooks.listDue({ now: STARTED_AT, realTime, lease: '' });
      return found.map(({ id }) => id);
    };
    const serve = async (id: string | undefined, realTime: Instant) => {
      const [webhook] = (await store.repositories.webhooks.listDue({ now: STARTED_AT, realTime, lease: '' })).filter(
        (one) => one.id === id,
      );
      const lease = { lease: 'lease', realTime, until: addSeconds(realTime, 60) };
      await store.transaction(async ({ webhooks }) => {
        if (webhook !== undefined) await webhooks.claim(webhook, lease);
      });
      if (webhook !== undefined) await store.transaction(({ webhooks }) => webhooks.release(webhook, 'lease'));
    };
    const [first, second, third] = await due(STARTED_AT);
    await serve(second, STARTED_AT);
    await serve(first, addSeconds(STARTED_AT, 1));
    expect(await due(addSeconds(STARTED_AT, 2))).toEqual([third, second, first]);
    await serve(third, addSeconds(STARTED_AT, 2));
    expect(await due(addSeconds(STARTED_AT, 3))).toEqual([second, first, third]);
  });
});
