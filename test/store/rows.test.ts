import { describe, expect } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { licenseWith, now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { accountId, device } from '../support/store-fixture.ts';

const later = addSeconds(now, 1);

describe.each(engines)('rows on $name', (engine) => {
  const it = testsOn(engine);

  it('keep a licence as it was, with every field or with none', async ({ database }) => {
    const { store, license: bare } = database;
    const full = licenseWith({
      ...bare,
      id: 'lic_2',
      key: 'LEGACY/Ünïcode/🔑/0000000042' as typeof bare.key,
      maxActivations: 999_999_999,
      activations: 3,
      reference: 'order "1042"',
      expirationDate: '9999-12-31T23:59:59.999Z' as Instant,
      expiresAfter: { years: 1, months: 2, weeks: 3, days: 4, hours: 5, minutes: 6, seconds: 7 },
      gracePeriod: { years: 0, months: 0, weeks: 2, days: 0, hours: 0, minutes: 0, seconds: 0 },
      features: { export: true, seats: -1.5, edition: 'café "quoted" \\ \u2028' },
      isTrial: true,
      allowedHosts: ['host-1', 'host "2"'],
      licenseType: 'floating',
      maxConcurrentSessions: 2,
      heartbeatInterval: 60,
      sessionLeaseDuration: 2_592_000,
      customerCanSelfReset: true,
      vendorDisabled: true,
      versionId: 'v1',
      ...{ slotYear: 2026, promisedSlots: 2, moves: 3 },
      updatedAt: later,
    });
    await store.transaction((repositories) => repositories.keys.insert(full));
    expect(await store.repositories.keys.find(accountId, bare.productId, bare.key)).toEqual(bare);
    expect(await store.repositories.keys.find(accountId, full.productId, full.key)).toEqual(full);
  });

  it('keep a token as it was', async ({ store }) => {
    const token = {
      id: 'tok_1',
      name: 'ci',
      kind: 'scoped' as const,
      scopes: [...scopes],
      productIds: ['prod_1'],
      networks: ['10.0.0.0/8'],
      maxIssues: 3,
      rateLimit: 60,
      expiresAt: later,
    };
    await store.transaction((repositories) => repositories.tokens.insert({ ...token, accountId, hash: 'h', now }));
    const shown = { ...token, issued: 0, revokedAt: null, lastUsedOn: null, createdAt: now };
    expect(await store.repositories.tokens.find(accountId, 'tok_1')).toEqual(shown);
    expect(await store.repositories.tokens.findByHash('h')).toEqual({ ...shown, accountId });
    expect(await store.repositories.tokens.findByHash('H')).toBeNull();
  });

  it('never refer to a licence, product or account that is not there', async ({ store, license }) => {
    const orphans = await Promise.allSettled([
      store.transaction((repositories) =>
        repositories.devices.insert({ ...license, id: 'lic_absent' }, device('host-1')),
      ),
      store.transaction((repositories) =>
        repositories.keys.insert({ ...license, id: 'lic_2', productId: 'prod_absent' as never }),
      ),
      store.transaction((repositories) =>
        repositories.products.insert({ accountId: 'acc_absent' as never, id: 'p', name: 'P', now }),
      ),
    ]);
    const names = orphans.map((orphan) => orphan.status === 'rejected' && orphan.reason.name);
    expect(names).toEqual(['ConstraintError', 'ConstraintError', 'ConstraintError']);
  });
});
