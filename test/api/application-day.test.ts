import { hash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { recordedOf } from '../support/recorded.ts';
import { expectSlots, promisedHosts } from '../support/slots.ts';
import type { Address, As, World } from '../support/world.ts';
import { times } from './at-once.ts';

/** An application on some machines, with the token that is built into it; and the vendor's staff. */
function applicationOf(world: World, address: Address) {
  const call = async (as: As, path: string, fields: object): Promise<string> => {
    const { status, body } = await world.call(as, 'POST', path, { ...address, ...fields });
    return `${status}/${body.code ?? 0}`;
  };
  return {
    activate: (hostId: string, more: object = {}) => call('client', '/key/activate', { hostId, ...more }),
    sign: (hostId: string) => call('client', '/key/sign', { hostId, ttl: 60 }),
    free: (hostId: string) => call('client', '/deactivate-key', { hostId }),
    rebind: (hostId: string, newHostId: string) => call('client', '/key/rebind', { hostId, newHostId }),
    vendor: (path: string, fields: object = {}) => call('admin', path, fields),
    change: (fields: object) => world.call('admin', 'PATCH', '/key', { ...address, ...fields }),
    hosts: async () => (await world.license(address)).devices.map(({ hostId }) => hostId).sort(),
    promised: async () => promisedHosts(await world.contents()),
    moves: async () => (await world.contents()).licenses?.map(({ moves }) => moves),
  };
}

interface Day {
  readonly world: World;
  readonly app: ReturnType<typeof applicationOf>;
}

const OK = '200/0';
const MAY_NOT = '403/12';
const TOO_OFTEN = '403/13';

describe.each(engines)('the day of an application on $name', (engine) => {
  const onEngine = testsOn(engine);
  /** A key with one slot, that never ends. */
  const it = (name: string, test: (it: Day) => Promise<void>) =>
    onEngine(name, async ({ world, productId }) => {
      const licenseKey = await world.key({ productId, usesPerKey: '1', expiryDate: null });
      await test({ world, app: applicationOf(world, { productId, licenseKey }) });
      expectSlots(await world.contents());
    });

  it('a machine comes and goes as often as it likes', async ({ app }) => {
    for (let day = 0; day < 6; day += 1) {
      expect([await app.activate('pc-1'), await app.free('pc-1')]).toEqual([OK, OK]);
    }
    expect([await app.sign('pc-1'), await app.hosts(), await app.promised()]).toEqual([OK, ['pc-1'], []]);
    expect(await app.moves()).toEqual([0]);
  });

  it('three times a year another machine comes for good, and not a fourth time', async ({ app }) => {
    expect(await app.activate('pc-0')).toBe(OK);
    for (const next of ['pc-1', 'pc-2', 'pc-3']) {
      expect(await app.activate(next)).toBe('403/3');
      expect([await app.free(`pc-${Number(next.at(-1)) - 1}`), await app.activate(next)]).toEqual([OK, OK]);
    }
    expect([await app.free('pc-3'), await app.activate('pc-4'), await app.sign('pc-4')]).toEqual([
      OK,
      TOO_OFTEN,
      TOO_OFTEN,
    ]);
    // What is promised is refused to nobody whose own it is.
    expect([await app.activate('pc-3'), await app.rebind('pc-3', 'pc-4')]).toEqual([OK, TOO_OFTEN]);
  });

  it('a machine and the one in its place change back and forth as moves', async ({ app }) => {
    expect([await app.activate('pc-1'), await app.free('pc-1'), await app.activate('pc-2')]).toEqual([OK, OK, OK]);
    expect([await app.free('pc-2'), await app.activate('pc-1'), await app.moves()]).toEqual([OK, OK, [2]]);
  });

  it('a new machine takes a free slot before a promised one, and of those the oldest', async ({ app, world }) => {
    await app.change({ maxActivations: 3 });
    for (const host of ['pc-1', 'pc-2']) expect(await app.activate(host)).toBe(OK);
    // The one that came last leaves first.
    expect(await app.free('pc-2')).toBe(OK);
    world.setNow('2026-11-21T10:00:01.000Z');
    expect(await app.free('pc-1')).toBe(OK);
    expect([await app.activate('pc-3'), await app.moves(), await app.promised()]).toEqual([OK, [0], ['pc-1', 'pc-2']]);
    expect([await app.activate('pc-4'), await app.moves(), await app.promised()]).toEqual([OK, [1], ['pc-1']]);
    expect([await app.activate('pc-1'), await app.moves(), await app.promised()]).toEqual([OK, [1], []]);
    expect(await app.activate('pc-2')).toBe('403/3');
  });

  it('a rebinding is a move, which leaves its host nothing', async ({ app }) => {
    await app.change({ maxActivations: 2 });
    expect([await app.activate('pc-1'), await app.rebind('pc-1', 'pc-2')]).toEqual([OK, OK]);
    expect([await app.promised(), await app.moves(), await app.activate('pc-1')]).toEqual([[], [1], OK]);
    for (const to of ['pc-3', 'pc-4']) expect(await app.rebind('pc-1', to)).toBe(to === 'pc-3' ? OK : '404/1');
    expect([await app.rebind('pc-3', 'pc-4'), await app.rebind('pc-4', 'pc-5')]).toEqual([OK, TOO_OFTEN]);
  });

  it('no way round the limit leads over a host that comes back by a rebinding', async ({ app }) => {
    await app.change({ maxActivations: 2, customerCanSelfReset: false });
    expect([await app.activate('pc-1'), await app.activate('pc-2'), await app.free('pc-2')]).toEqual([OK, OK, OK]);
    expect([await app.rebind('pc-1', 'pc-2'), await app.promised()]).toEqual([OK, ['pc-1']]);
    expect([await app.activate('pc-3'), await app.activate('pc-1')]).toEqual([MAY_NOT, OK]);
  });

  it('a host that may not come back leaves no promise when another comes back in its place', async ({ app }) => {
    await app.change({ maxActivations: 2 });
    expect([await app.activate('pc-1'), await app.activate('pc-2'), await app.free('pc-2')]).toEqual([OK, OK, OK]);
    await app.change({ allowedHosts: ['pc-2', 'pc-3'] });
    expect([await app.rebind('pc-1', 'pc-2'), await app.promised()]).toEqual([OK, []]);
    expect([await app.activate('pc-3'), await app.moves()]).toEqual([OK, [0]]);
  });

  it('where customers may not move slots, each machine still comes and goes', async ({ app }) => {
    await app.change({ customerCanSelfReset: false });
    expect([await app.activate('pc-1'), await app.free('pc-1'), await app.activate('pc-2')]).toEqual([OK, OK, MAY_NOT]);
    expect([await app.sign('pc-2'), await app.sign('pc-1'), await app.rebind('pc-1', 'pc-2')]).toEqual([
      MAY_NOT,
      OK,
      MAY_NOT,
    ]);
  });

  it('a key without a limit promises nothing and counts nothing', async ({ app }) => {
    await app.change({ maxActivations: null, customerCanSelfReset: false });
    for (let host = 0; host < 6; host += 1) {
      expect([await app.activate(`pc-${host}`), await app.free(`pc-${host}`)]).toEqual([OK, OK]);
      expect([await app.activate('pc-9'), await app.rebind('pc-9', `pc-${host}`)]).toEqual([OK, OK]);
    }
    expect([await app.promised(), await app.moves()]).toEqual([[], [0]]);
  });

  it('what the vendor frees is free, and the vendor brings any host', async ({ app }) => {
    for (let host = 1; host < 6; host += 1) {
      expect(await app.activate(`pc-${host}`)).toBe(OK);
      expect(await app.vendor('/deactivate-key', { hostId: `pc-${host}` })).toBe(OK);
    }
    expect([await app.activate('pc-1'), await app.free('pc-1'), await app.moves()]).toEqual([OK, OK, [0]]);
    await app.change({ customerCanSelfReset: false });
    expect(await app.activate('pc-2')).toBe(MAY_NOT);
    for (const hostId of ['pc-2', 'pc-3', 'pc-4', 'pc-5']) {
      expect([await app.vendor('/key/activate', { hostId }), await app.free(hostId)]).toEqual([OK, OK]);
    }
    expect([await app.promised(), await app.moves(), await app.activate('pc-5')]).toEqual([['pc-5'], [0], OK]);
    for (const [hostId, newHostId] of ['pc-5', 'pc-6', 'pc-7', 'pc-8', 'pc-9'].map((host, i, all) => [
      host,
      all[i + 1],
    ]))
      if (newHostId !== undefined) expect(await app.vendor('/key/rebind', { hostId, newHostId })).toBe(OK);
    expect(await app.moves()).toEqual([0]);
  });

  it('one move too many becomes possible with the new year, when all promises have ended', async ({ app, world }) => {
    await app.change({ maxActivations: 2 });
    world.setNow('2026-12-31T23:00:00.000Z');
    for (const host of ['pc-0', 'pc-9']) expect(await app.activate(host)).toBe(OK);
    for (const [from, to] of [
      ['pc-0', 'pc-1'],
      ['pc-1', 'pc-2'],
      ['pc-2', 'pc-3'],
    ] as const)
      expect(await app.rebind(from, to)).toBe(OK);
    expect([await app.free('pc-3'), await app.free('pc-9')]).toEqual([OK, OK]);
    world.setNow('2026-12-31T23:59:59.999Z');
    expect(await app.activate('pc-4')).toBe(TOO_OFTEN);
    world.setNow('2027-01-01T00:00:00.000Z');
    expect([await app.activate('pc-4'), await app.moves()]).toEqual([OK, [3]]);
    expect([await app.free('pc-4'), await app.activate('pc-5'), await app.activate('pc-6')]).toEqual([OK, OK, OK]);
    expect([await app.moves(), await app.promised()]).toEqual([[1], []]);
  });

  it('a machine under another name comes back to its slot by its fingerprint', async ({ app }) => {
    const fingerprint = { disk: hash('sha256', 'disk'), board: hash('sha256', 'board') };
    const changed = { ...fingerprint, disk: hash('sha256', 'another disk') };
    await app.change({ fingerprintMatch: 1, customerCanSelfReset: false });
    expect([await app.activate('pc-1', { fingerprint }), await app.free('pc-1')]).toEqual([OK, OK]);
    expect(await app.activate('pc-2', { fingerprint: { disk: hash('sha256', 'other') } })).toBe(MAY_NOT);
    expect([await app.activate('pc-2', { fingerprint: changed }), await app.hosts()]).toEqual([OK, ['pc-2']]);
    expect([await app.promised(), await app.moves()]).toEqual([[], [0]]);
  });

  for (const [what, fields, promised] of [
    ['fewer slots keep the promises that are the latest', { maxActivations: 2 }, ['pc-3']],
    ['as many slots as devices end them', { maxActivations: 1 }, []],
    ['no limit ends them', { maxActivations: null }, []],
    ['more slots keep them', { maxActivations: 9 }, ['pc-2', 'pc-3']],
    ['a list of hosts ends those of others', { allowedHosts: ['pc-1', 'pc-2'] }, ['pc-2']],
    ['metadata changes nothing', { metadata: { note: 'x' } }, ['pc-2', 'pc-3']],
  ] as const)
    it(`a change by the vendor: ${what}`, async ({ app, world }) => {
      await app.change({ maxActivations: 3 });
      for (const host of ['pc-1', 'pc-2', 'pc-3']) expect(await app.activate(host)).toBe(OK);
      for (const [i, host] of ['pc-2', 'pc-3'].entries()) {
        world.setNow(`2026-11-21T11:00:0${i}.000Z`);
        expect(await app.free(host)).toBe(OK);
      }
      expect((await app.change(fields)).status).toBe(200);
      expect(await app.promised()).toEqual(promised);
    });

  it('a key that is for another customer begins anew; a new string of it changes nothing', async ({ app, world }) => {
    expect([await app.activate('pc-1'), await app.rebind('pc-1', 'pc-2'), await app.free('pc-2')]).toEqual([
      OK,
      OK,
      OK,
    ]);
    expect(await app.vendor('/key/reissue')).toBe(OK);
    expect([await app.promised(), await app.moves()]).toEqual([['pc-2'], [1]]);
    const { id: customerId } = await world.customer();
    expect(await app.vendor('/key/transfer', { customerId })).toBe(OK);
    expect([await app.promised(), await app.moves(), await app.activate('pc-3')]).toEqual([[], [0], OK]);
  });

  it('promises go with the key that is deleted', async ({ app, world }) => {
    expect([await app.activate('pc-1'), await app.free('pc-1')]).toEqual([OK, OK]);
    const { licenses = [] } = await world.contents();
    const query = new URLSearchParams({
      licenseKey: `${licenses[0]?.license_key}`,
      productId: `${licenses[0]?.product_id}`,
    });
    expect((await world.call('admin', 'DELETE', `/key?${query}`)).status).toBe(200);
    expect(await app.promised()).toEqual([]);
  });

  it('what is recorded of a move names the host whose slot it was', async ({ app, world }) => {
    expect([await app.activate('pc-1'), await app.free('pc-1'), await app.activate('pc-2')]).toEqual([OK, OK, OK]);
    expect((await recordedOf(world, 'keys.activate')).events).toMatchObject([
      { type: 'device.activated', data: { hostId: 'pc-2', movedFromHostId: 'pc-1', movesOfYear: 1 } },
    ]);
    expect(await app.rebind('pc-2', 'pc-3')).toBe(OK);
    expect((await recordedOf(world, 'keys.rebind')).events).toMatchObject([
      { type: 'device.rebound', data: { hostId: 'pc-3', previousHostId: 'pc-2', movesOfYear: 2 } },
    ]);
    expect([await app.free('pc-3'), await app.vendor('/key/activate', { hostId: 'pc-4' })]).toEqual([OK, OK]);
    const { events } = await recordedOf(world, 'keys.activate');
    expect(events[0]?.data).toMatchObject({ hostId: 'pc-4', movedFromHostId: 'pc-3' });
    expect(events[0]?.data).not.toHaveProperty('movesOfYear');
  });

  it('machines that come, go and are replaced at once never have more than there is', async ({ app, world }) => {
    await app.change({ maxActivations: 3 });
    for (let round = 0; round < 4; round += 1) {
      await times(24, (i) => {
        const host = `pc-${i % 6}`;
        return [app.activate, app.free, app.sign, (one: string) => app.rebind(one, `pc-${(i + 1) % 6}`)][
          (i + round) % 4
        ]?.(host) as Promise<string>;
      });
      const contents = await world.contents();
      expectSlots(contents);
      const [{ activations, moves } = { activations: -1, moves: -1 }] = contents.licenses ?? [];
      expect(activations).toBe(contents.devices?.length);
      expect(activations).toBeLessThanOrEqual(3);
      expect(moves).toBeLessThanOrEqual(3);
    }
  });
});
