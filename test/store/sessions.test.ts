import { describe, expect } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import type { License } from '../../src/domain/license.ts';
import { addSeconds } from '../../src/domain/time.ts';
import type { Store } from '../../src/store/store.ts';
import type { Session } from '../../src/store/tables/sessions.ts';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';

const session = ({ accountId, id: licenseId }: License, id: string, expiresAt: Instant): Session => ({
  accountId,
  licenseId,
  id,
  hostId: null,
  tag: null,
  userIdentifier: null,
  secret: 'secret',
  nonce: 'nonce',
  previousNonce: null,
  expiresAt,
  createdAt: now,
});

/** Leases sessions of the licence that end so many seconds from now. */
async function lease(store: Store, license: License, ...ends: readonly number[]): Promise<Session[]> {
  const sessions = ends.map((seconds, i) => session(license, `${license.id}_ses_${i}`, addSeconds(now, seconds)));
  await store.transaction(async (repositories) => {
    for (const each of sessions) await repositories.sessions.insert(each);
  });
  return sessions;
}

describe.each(engines)('sessions on $name', (engine) => {
  const it = testsOn(engine);

  it('that have ended are removed once, however many remove them', async ({ store, license }) => {
    const sessions = await lease(store, license, ...Array.from({ length: 30 }, (_, i) => -i));
    const removed = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        store.transaction((repositories) =>
          repositories.sessions.removeLapsed(now, i % 2 === 0 ? { most: 10 } : { license }),
        ),
      ),
    );
    expect(
      removed
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(sessions.map(({ id }) => id).sort());
  });

  it('that have ended are returned in the order of their ends, and of their ids', async ({ store, license }) => {
    await lease(store, license, -1, -3, -2, -3, 1);
    const removed = await store.transaction(({ sessions }) => sessions.removeLapsed(now, { license }));
    expect(removed.map(({ id }) => id.replace(`${license.id}_ses_`, ''))).toEqual(['1', '3', '2', '0']);
  });

  it('that are prolonged while they end are either prolonged or removed', async ({ store, license }) => {
    const sessions = await lease(store, license, ...Array.from({ length: 20 }, () => 0));
    const before = addSeconds(now, -1);
    const [removed, ...prolonged] = await Promise.all([
      store.transaction((repositories) => repositories.sessions.removeLapsed(now, { license })),
      ...sessions.map(({ accountId, id }) =>
        store.transaction(async (repositories) => {
          const held = await repositories.sessions.hold(accountId, id, before);
          if (held === null) return [];
          await repositories.sessions.prolong(held, {
            nonce: 'n',
            previousNonce: null,
            expiresAt: addSeconds(now, 60),
          });
          return [held];
        }),
      ),
    ]);
    const ids = [...removed, ...prolonged.flat()].map(({ id }) => id).sort();
    expect(ids).toEqual(sessions.map(({ id }) => id).sort());
    const live = await store.repositories.sessions.listLive(license, now);
    expect(live.map(({ id }) => id).sort()).toEqual(
      prolonged
        .flat()
        .map(({ id }) => id)
        .sort(),
    );
  });
});
