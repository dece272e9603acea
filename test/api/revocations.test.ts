import { describe, expect } from 'vitest';
import type { Jwk } from '../../src/contract/signing-keys.ts';
import { readRevocations } from '../../src/domain/license-file/revocations.ts';
import { verifyLicenseFile } from '../../src/domain/license-file/verify.ts';
import { toInstant } from '../../src/domain/time.ts';
import { cleanUp } from '../../src/server/jobs/cleanup.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { row, scenarios } from '../support/scenario.ts';
import { type Address, STARTED_AT, type World } from '../support/world.ts';

const PATH = '/.well-known/revocations';
const DAWN_SECONDS = Date.parse(STARTED_AT) / 1_000;

const aList = { body: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]{86}$/) };

/** What the list of an account states at the moment, checked against the published keys. */
async function listOf(world: World, account: 'acme' | 'other' = 'acme') {
  const issuer = world.accounts[account];
  const { keys } = (await world.call('nobody', 'GET', `/.well-known/jwks.json?account=${issuer}`)).body;
  const { body } = await world.call('nobody', 'GET', `${PATH}?account=${issuer}`);
  const read = readRevocations(body, { keys, issuer, now: DAWN_SECONDS });
  if (typeof read === 'string') throw new Error(read);
  return read;
}

async function makeKey(world: World): Promise<Address> {
  const { id: productId } = await world.product();
  return { productId, licenseKey: await world.key({ productId, expiryDate: null }) };
}

async function sign(world: World, address: Address, hostId: string, ttl = 3_600) {
  const { file } = (await world.call('admin', 'POST', '/key/sign', { ...address, hostId, ttl })).body;
  const { claims } = verifyLicenseFile(file, { keys: (await jwks(world)) ?? [], now: STARTED_AT });
  return { text: String(file), id: claims?.jti ?? '', license: claims?.sub ?? '' };
}

const jwks = async (world: World): Promise<Jwk[]> =>
  (await world.call('nobody', 'GET', '/.well-known/jwks.json')).body.keys;

async function verdictOn(world: World, { text }: { readonly text: string }) {
  const { body: revocations } = await world.call('nobody', 'GET', PATH);
  return verifyLicenseFile(text, { keys: await jwks(world), now: STARTED_AT, revocations }).verdict;
}

const free = (world: World, address: Address, hostId?: string) =>
  world.call('admin', 'POST', '/deactivate-key', { ...address, ...(hostId && { hostId }) });

scenarios('revocations.export', { given: async (world) => ({ other: world.accounts.other }), as: 'nobody' }, [
  row('shows anybody the list of the oldest account, dated to the hour', aList, {
    at: '2026-11-21T10:59:59.999Z',
    afterwards: async (world) => {
      const dates = { iat: DAWN_SECONDS, exp: DAWN_SECONDS + 30 * 86_400 };
      expect(await listOf(world)).toEqual({ iss: world.accounts.acme, ...dates, seq: 0, files: [], licenses: [] });
    },
  }),
  row('shows that of the account that is named', aList, {
    send: ({ other }) => ({ account: other }),
    given: async (world) => {
      const address = await makeKey(world);
      await sign(world, address, 'host-1');
      await free(world, address);
    },
    afterwards: async (world) => {
      expect(await listOf(world, 'other')).toMatchObject({ iss: world.accounts.other, seq: 0, files: [] });
      expect(await listOf(world)).toMatchObject({ seq: 1, files: [expect.stringMatching(/^fil_/)] });
    },
  }),
  row('refuses an account that is not there', 'accountNotFound', {
    send: { account: 'acc_00000000000000000000000000' },
  }),
]);

describe.each(engines)('the revocation list on $name', (engine) => {
  const it = testsOn(engine);

  it('names the files of one device that is freed, then those of the licence that is deleted, and no others', async ({
    world,
  }) => {
    const address = await makeKey(world);
    const [first, again, other] = [
      await sign(world, address, 'host-1'),
      await sign(world, address, 'host-1', 7_200),
      await sign(world, address, 'host-2'),
    ];
    expect(await listOf(world)).toMatchObject({ seq: 0, files: [] });
    expect((await free(world, address, 'host-1')).status).toBe(200);
    expect(await listOf(world)).toMatchObject({ seq: 1, files: [first.id, again.id].sort(), licenses: [] });
    world.setNow('2026-11-21T10:01:00.000Z');
    const query = new URLSearchParams({ ...address, force: 'true' });
    expect((await world.call('admin', 'DELETE', `/key?${query}`)).status).toBe(200);
    expect(await listOf(world)).toMatchObject({ seq: 2, files: [first.id, again.id, other.id].sort(), licenses: [] });
    // A file is revoked once.
    const { license_files: files = [] } = await world.contents();
    const atFirst = files.filter(({ revoked_at }) => revoked_at === STARTED_AT).map(({ id }) => id);
    expect(atFirst.sort()).toEqual([first.id, again.id].sort());
  });

  it('does not take a file off when the device comes back: it needs a new one', async ({ world }) => {
    const address = await makeKey(world);
    const before = await sign(world, address, 'host-1');
    await free(world, address);
    const after = await sign(world, address, 'host-1');
    expect([await verdictOn(world, before), await verdictOn(world, after)]).toEqual(['revoked', 'ok']);
  });

  it('names a blocked licence that has files, as long as it is blocked', async ({ world }) => {
    const [address, bare] = [await makeKey(world), await makeKey(world)];
    const file = await sign(world, address, 'host-1');
    const block = async (verb: 'block' | 'unblock') => {
      for (const each of [address, bare, address]) {
        expect((await world.call('admin', 'POST', `/key/${verb}`, each)).status).toBe(200);
      }
    };
    await block('block');
    expect(await listOf(world)).toMatchObject({ seq: 1, files: [], licenses: [file.license] });
    expect(await verdictOn(world, file)).toBe('revoked');
    await block('unblock');
    expect(await listOf(world)).toMatchObject({ seq: 2, licenses: [] });
  });

  it('names a file until the cleanup removes it, a day after its end', async ({ world }) => {
    const address = await makeKey(world);
    const file = await sign(world, address, 'host-1');
    const other = await sign(world, address, 'host-2', 2 * 86_400);
    await free(world, address);
    const afterEnd = (hours: number) => Date.parse(STARTED_AT) + (1 + hours) * 3_600_000;
    world.setNow(toInstant(afterEnd(1)));
    await cleanUp(world.store, afterEnd(24), { record: world.record, due: 'daily' });
    expect(await listOf(world)).toMatchObject({ seq: 1, files: [file.id, other.id].sort() });
    await cleanUp(world.store, afterEnd(24) + 1, { record: world.record, due: 'daily' });
    expect(await listOf(world)).toMatchObject({ seq: 2, files: [other.id] });
    expect((await world.contents()).license_files?.map(({ id }) => id)).toEqual([other.id]);
  });
});
