import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { addSeconds } from '../../src/domain/time.ts';
import { licenseWith, now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { accountId, databaseWithLicense, device } from '../support/store-fixture.ts';

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

  it('count issued keys up to the limit of the token, however many ask at once', async ({ store }) => {
    const token = { accountId, id: 'tok_1', name: 'ci', kind: 'admin' as const, scopes: [], productIds: null, now };
    await store.transaction((repositories) =>
      repositories.tokens.insert({ ...token, hash: 'h', maxIssues: 5, expiresAt: null }),
    );
    const counted = await Promise.all(
      Array.from({ length: 50 }, () =>
        store.transaction((repositories) => repositories.tokens.countIssue(accountId, 'tok_1' as never)),
      ),
    );
    expect(counted.filter((left) => left !== null).sort()).toEqual([0, 1, 2, 3, 4]);
    expect((await store.repositories.tokens.find(accountId, 'tok_1'))?.issued).toBe(5);
  });

  it('give one host one device of a licence, however many ask at once', async ({ store, license }) => {
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.transaction((repositories) =>
          repositories.devices.insert(license, { ...device('host-1'), id: `dev_${i}` }),
        ),
      ),
    );
    expect(added.filter(Boolean)).toHaveLength(1);
  });

  it('give one e-mail address to one customer, however many ask at once and in whatever case', async ({ store }) => {
    const added = await Promise.all(
      ['zoe@example.com', 'ZOE@example.com', 'Zoe@Example.Com'].map((email) =>
        store.transaction((repositories) =>
          repositories.customers.insert({ accountId, id: `cus_${email}`, name: 'Zoë', email, now }),
        ),
      ),
    );
    expect(added.filter(Boolean)).toHaveLength(1);
  });

  it('lease no more seats than there are to those who hold the licence’s lock', async () => {
    await using database = await databaseWithLicense(engine, { licenseType: 'floating', maxConcurrentSessions: 4 });
    const { store, license } = database;
    const leased = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        store.transaction(async (repositories) => {
          await repositories.keys.lock(license);
          if ((await repositories.sessions.countLive(license, now)) >= 4) return false;
          await repositories.sessions.insert({
            accountId: license.accountId,
            licenseId: license.id,
            id: `ses_${i}`,
            hostId: null,
            tag: null,
            userIdentifier: null,
            secret: 's',
            nonce: 'n',
            previousNonce: null,
            expiresAt: later,
            createdAt: now,
          });
          return true;
        }),
      ),
    );
    expect(leased.filter(Boolean)).toHaveLength(4);
    expect(await store.transaction((repositories) => repositories.sessions.countLive(license, now))).toBe(4);
    expect(await store.transaction((repositories) => repositories.sessions.countLive(license, later))).toBe(0);
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
