import { describe, expect, it } from 'vitest';
import { times } from '../support/at-once.ts';
import { type Engine, engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { createWorld, type World } from '../support/world.ts';

/** A key with these terms, in a world of its own. */
async function keyWith(engine: Engine, terms: Readonly<Record<string, unknown>>) {
  const world = await createWorld({ engine });
  const { id: productId } = await world.product();
  return { world, address: { productId, licenseKey: await world.key({ productId, ...terms }) } };
}

/** The claims of a licence file, unverified. */
function claimsOf(file: string): { readonly exp: number; readonly licenseExp: number | null } {
  const [, claims = ''] = JSON.parse(file).licenseToken.split('.');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}

const seconds = (instant: string): number => Date.parse(instant) / 1_000;

describe.each(engines)('a key that lasts from its first use, on $name', (engine) => {
  it('has no end until then, and the first device sets it', async () => {
    const { world, address } = await keyWith(engine, { expiresAfter: 'P1M' });
    await using _ = world;
    expect(await world.license(address)).toMatchObject({ expirationDate: null, expiresAfter: 'P1M' });
    world.setNow('2028-01-31T12:00:00.000Z');
    const signed = await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' });
    expect(claimsOf(signed.body.file)).toMatchObject({
      exp: seconds('2028-02-29T12:00:00Z'),
      licenseExp: seconds('2028-02-29T12:00:00Z'),
    });
    expect(await world.license(address)).toMatchObject({
      expirationDate: '2028-02-29T12:00:00.000Z',
      expiresAfter: 'P1M',
    });
  });

  it('keeps that end when later devices come, or the first one comes back', async () => {
    const { world, address } = await keyWith(engine, { expiresAfter: 'P1Y' });
    await using _ = world;
    await world.activate(address, 'host-1');
    world.setNow('2026-12-01T00:00:00.000Z');
    await world.activate(address, 'host-2');
    await world.call('admin', 'POST', '/deactivate-key', address);
    await world.activate(address, 'host-1');
    expect(await world.license(address)).toMatchObject({ expirationDate: '2027-11-21T10:00:00.000Z' });
  });

  it('gets one end, however many devices come first at once, and all files have it', async () => {
    const { world, address } = await keyWith(engine, { expiresAfter: 'P1Y', usesPerKey: '5' });
    await using _ = world;
    const answers = await times(20, (i) => {
      world.setNow(`2026-11-21T10:00:00.${String(100 + i)}Z`);
      return world.call('admin', 'POST', '/key/sign', { ...address, hostId: `host-${i % 10}` });
    });
    const files = answers.filter(({ status }) => status === 200).map(({ body }) => claimsOf(body.file).licenseExp);
    expect(files.length).toBeGreaterThanOrEqual(5);
    const { expirationDate } = await world.license(address);
    expect(new Set(files)).toEqual(new Set([Math.floor(seconds(String(expirationDate)))]));
  });

  it('begins with the first session of a floating key', async () => {
    const { world, address } = await keyWith(engine, { licenseType: 'floating', expiresAfter: 'P30D' });
    await using _ = world;
    const [first] = await times(5, () => world.call('admin', 'POST', '/key/checkout', address));
    expect(first?.status).toBe(200);
    expect(await world.license(address)).toMatchObject({ expirationDate: '2026-12-21T10:00:00.000Z' });
  });

  it('does not begin when its first use is refused', async () => {
    const { world, address } = await keyWith(engine, { expiresAfter: 'P1Y', allowedHosts: ['host-1'] });
    await using _ = world;
    expect((await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-2' })).status).toBe(403);
    expect(await world.license(address)).toMatchObject({ expirationDate: null });
  });
});

describe.each(engines)('a key with a grace period, on $name', (engine) => {
  const terms = { expiryDate: '2026-12-31T12:00:00Z', gracePeriod: 'P2M' };

  it('signs without a warning before its end, and the file ends there', async () => {
    const { world, address } = await keyWith(engine, terms);
    await using _ = world;
    world.setNow('2026-12-31T11:59:59.999Z');
    const { body } = await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' });
    expect(Object.keys(body)).toEqual(['file']);
    expect(claimsOf(body.file).exp).toBe(seconds('2026-12-31T12:00:00Z'));
  });

  it.each(['2026-12-31T12:00:00.000Z', '2027-02-28T11:59:59.999Z'])('signs with a warning at %s', async (now) => {
    const { world, address } = await keyWith(engine, terms);
    await using _ = world;
    world.setNow(now);
    const { body } = await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1' });
    expect(body.warning).toBe(
      'License expired on 2026-12-31T12:00:00.000Z; it may be used until 2027-02-28T12:00:00.000Z',
    );
    expect(claimsOf(body.file)).toMatchObject({
      exp: seconds('2027-02-28T12:00:00Z'),
      licenseExp: seconds('2026-12-31T12:00:00Z'),
    });
  });

  it('activates with a warning in its grace period, and not after it', async () => {
    const { world, address } = await keyWith(engine, terms);
    await using _ = world;
    const activate = async (now: string) => {
      world.setNow(now);
      return world.call('admin', 'POST', '/key/activate', { ...address, hostId: 'host-1' });
    };
    expect((await activate('2026-12-31T11:59:59.999Z')).body.warning).toBeUndefined();
    expect((await activate('2026-12-31T12:00:00.000Z')).body).toMatchObject({
      message: 'Device activated',
      warning: expect.stringContaining('until 2027-02-28T12:00:00.000Z'),
    });
    expect((await activate('2027-02-28T12:00:00.000Z')).body).toEqual({ message: 'License expired', code: 5 });
  });

  it('ends the file after its ttl, if that is sooner than the grace period', async () => {
    const { world, address } = await keyWith(engine, terms);
    await using _ = world;
    world.setNow('2027-01-15T00:00:00.000Z');
    const { body } = await world.call('admin', 'POST', '/key/sign', { ...address, hostId: 'host-1', ttl: 60 });
    expect(claimsOf(body.file).exp).toBe(seconds('2027-01-15T00:01:00Z'));
  });

  it('leases sessions with a warning, and none from the end of its grace period on', async () => {
    const { world, address } = await keyWith(engine, { ...terms, licenseType: 'floating' });
    await using _ = world;
    expect((await checkOut(world, address, '2026-12-31T11:00:00.000Z')).body.warning).toBeUndefined();
    expect((await checkOut(world, address, '2027-01-01T00:00:00.000Z')).body).toMatchObject({
      message: 'Session checked out',
      warning: expect.stringContaining('until 2027-02-28T12:00:00.000Z'),
    });
    expect((await checkOut(world, address, '2027-02-28T12:00:00.000Z')).body).toEqual({
      message: 'License expired',
      code: 5,
    });
  });
});

async function checkOut(world: World, address: object, now: string) {
  world.setNow(now);
  return world.call('admin', 'POST', '/key/checkout', address);
}

describe.each(engines)('a reference, on $name', (engine) => {
  const it = testsOn(engine);

  it('belongs to one key, however many ask for it at once, and the others make no customer', async ({
    world,
    productId,
  }) => {
    const newCustomer = { name: 'Zoë', email: 'zoe@example.com' };
    const answers = await times(20, (i) =>
      world.call('admin', 'POST', '/create-key', {
        productId,
        reference: 'order-1042',
        ...(i % 2 === 0 ? { newCustomer } : {}),
      }),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => ({ status, ...body }))).toEqual(
      Array(19).fill({ status: 409, code: 10, message: 'A key with reference order-1042 already exists' }),
    );
    const { licenses, customers = [] } = await world.contents();
    expect(licenses).toHaveLength(1);
    expect(customers.length).toBeLessThanOrEqual(1);
  });

  it('stays taken for years, and after the key has expired', async ({ world, productId }) => {
    await world.key({ productId, reference: 'order-1042' });
    world.setNow('2066-11-21T10:00:00.000Z');
    const answer = await world.call('admin', 'POST', '/create-key', { productId, reference: 'order-1042' });
    expect(answer.status).toBe(409);
  });

  it('is compared exactly, and each account has its own', async ({ world, productId }) => {
    await world.key({ productId, reference: 'order-1042' });
    await world.key({ productId, reference: 'Order-1042' });
    const other = (await world.call('other admin', 'POST', '/product', { name: 'Theirs' })).body.data.id;
    const answer = await world.call('other admin', 'POST', '/create-key', {
      productId: other,
      reference: 'order-1042',
    });
    expect(answer.status).toBe(200);
  });

  it('of a taken key is said before the limit of the token is', async ({ world, productId }) => {
    const token = { kind: 'admin', maxIssues: 1 } as const;
    const answers = [];
    for (const _ of [1, 2]) {
      answers.push(await world.call(token, 'POST', '/create-key', { productId, reference: 'order-1042' }));
    }
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
      [200, 0],
      [409, 10],
    ]);
  });
});
