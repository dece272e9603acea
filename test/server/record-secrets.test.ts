import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { allRecorded } from '../support/recorded.ts';

const CANARY = 'canary-7f3a';

describe.each(engines)('what is recorded, on $name,', (engine) => {
  const it = testsOn(engine);

  it('holds no key, secret, name, tag or e-mail address, of whatever was done or refused', async ({ world }) => {
    const done = async (method: string, path: string, body?: unknown) => {
      const { status, body: answer } = await world.call('admin', method, path, body);
      expect([path, status < 300]).toEqual([path, true]);
      return answer;
    };
    const person = (number: number) => ({ name: `${CANARY} name`, email: `${CANARY}-${number}@example.com` });
    const { id: productId } = (await done('POST', '/product', { name: `${CANARY} product` })).data;
    await done('PUT', `/product/by-id?productId=${productId}`, { name: `${CANARY} renamed` });
    const { id: customerId } = (await done('POST', '/customer', person(1))).data;
    const metadata = { features: { [`${CANARY}`]: true }, note: CANARY };
    const key = (await done('POST', '/create-key', { productId, newCustomer: person(2), metadata, usesPerKey: '1' }))
      .key;
    const file = (await done('POST', '/key/sign', { productId, licenseKey: key, hostId: 'host-1' })).file;
    await world.call('admin', 'POST', '/key/sign', { productId, licenseKey: key, hostId: 'host-2' });
    await done('POST', '/deactivate-key', { productId, licenseKey: key });
    const floating = { productId, licenseType: 'floating', maxConcurrentSessions: 1, customerId };
    const second = (await done('POST', '/create-key', floating)).key;
    const seat = { productId, licenseKey: second, userIdentifier: person(3).email, deviceTag: `${CANARY} tag` };
    const session = await done('POST', '/key/checkout', seat);
    await world.call('admin', 'POST', '/key/checkout', seat);
    const token = (await done('POST', '/token', { name: `${CANARY} token`, kind: 'client' })).data;
    await done('DELETE', `/token/by-id?tokenId=${token.id}`);
    await world.call('read-only', 'POST', '/customer', person(4));
    await done('DELETE', `/customer/by-id?customerId=${customerId}`);
    await world.call('admin', 'POST', '/customer', person(2));

    const { licenseToken } = JSON.parse(file);
    const ofSession = [session.sessionSecret, session.nextNonce];
    const secrets = [CANARY, key, second, ...ofSession, token.token, await world.tokenOf('admin'), licenseToken];
    const { outbox: staged } = await world.contents();
    await world.sequence();
    const { audit, events } = await world.contents();
    const kept = JSON.stringify({ staged, audit, events });
    expect(secrets.filter((secret) => kept.includes(String(secret)))).toEqual([]);
    // Not because nothing was kept: the limits that were reached are among it.
    expect(kept).toContain(productId);
    const types = events?.map(({ type }) => type);
    expect(types).toContain('license.limit_reached');
    expect(types).toContain('session.denied');
    expect(audit).toHaveLength(14);
  });
});

describe.each(engines)('a refusal that is recorded, on $name,', (engine) => {
  const it = testsOn(engine);

  it('is recorded once under its idempotency key, without the rest of its use case', async ({ world, productId }) => {
    const licenseKey = await world.key({ productId, usesPerKey: '1' });
    await world.activate({ productId, licenseKey }, 'host-1');
    const before = (await allRecorded(world)).length;
    const body = { productId, licenseKey, hostId: 'host-2', ttl: 3_600 };
    for (let round = 0; round < 3; round += 1) {
      const { status } = await world.call('admin', 'POST', '/key/sign', body, { 'Idempotency-Key': 'one' });
      expect(status).toBe(403);
    }
    expect(await world.call('admin', 'POST', '/key/sign', body)).toMatchObject({ status: 403 });
    const { devices } = await world.contents();
    expect((await allRecorded(world)).length - before).toBe(2);
    expect(devices).toHaveLength(1);
    const { body: list } = await world.call('admin', 'GET', '/audit/list?after=3');
    const license = await world.license({ productId, licenseKey });
    for (const row of list.data) {
      expect(row).toMatchObject({
        ...{ operation: 'keys.sign', outcome: 'refused', resource: { type: 'license', id: license.id } },
        details: { reason: 'activationLimit', hostId: 'host-2', maxActivations: 1 },
      });
    }
    expect(list.data).toHaveLength(2);
  });
});
