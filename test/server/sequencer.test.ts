import { describe, expect, it } from 'vitest';
import type { Instant } from '../../src/contract/scalars.ts';
import { isSigned } from '../../src/domain/audit-chain.ts';
import { toJwk } from '../../src/domain/license-file/sign.ts';
import { checkpointJob, signCheckpoints } from '../../src/server/jobs/checkpoints.ts';
import { createJobs } from '../../src/server/jobs/job.ts';
import { sequence, sequenceNow } from '../../src/server/jobs/sequencer.ts';
import { createLog } from '../../src/server/log.ts';
import { createRandom, createSigners } from '../../src/service/context.ts';
import { numberStaged } from '../../src/service/numbering.ts';
import { createRecorder } from '../../src/service/record.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { engineOf, engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { readRecord } from '../support/recorded.ts';
import { createWorld, STARTED_AT, type World } from '../support/world.ts';

const ALL = { after: 0, until: 1_000_000, limit: 1_000_000 };

const partsOf = (now: string = STARTED_AT) => ({ signerOf: createSigners(), now: () => now as Instant });

/** Records so many mutations, each with two events, in one transaction. */
async function recordSome(world: World, count: number, store: Store = world.store, prefix = 'cus'): Promise<void> {
  const record = createRecorder(createRandom());
  await store.transaction(async (repositories) => {
    for (let index = 0; index < count; index += 1) {
      const resource = { type: 'customer', id: `${prefix}_${index}` } as const;
      const events = (['customer.created', 'customer.updated'] as const).map((type) => ({ type, resource }));
      const origin = { at: STARTED_AT, address: null, door: 'http', requestId: null } as const;
      const what = { actor: { type: 'token', id: 'tok_1' }, operation: 'customers.create', events } as const;
      await record(repositories, { accountId: world.accounts.acme, ...origin, ...what });
    }
  });
}

const recordOfAcme = ({ store, accounts }: World) => readRecord(store, accounts.acme);

const subjects = (rows: readonly { resource: { id: string } }[]): string[] => rows.map(({ resource }) => resource.id);

describe.each(engines)('numbering on $name', (engine) => {
  const it = testsOn(engine);

  it('gives audit rows and events their numbers, in the order in which they were recorded', async ({ world }) => {
    await recordSome(world, 1_203);
    await world.sequence();
    const { audit, events } = await recordOfAcme(world);
    expect(subjects(audit)).toEqual(Array.from({ length: 1_203 }, (_, index) => `cus_${index}`));
    expect(events.slice(0, 3).map(({ type, resource_id }) => `${type} ${resource_id}`)).toEqual([
      'customer.created cus_0',
      'customer.updated cus_0',
      'customer.created cus_1',
    ]);
    expect(await world.store.repositories.outbox.count()).toBe(0);
  });

  it('numbers each account for itself', async ({ world }) => {
    await world.customer();
    await world.call('other admin', 'POST', '/customer', { name: 'Theirs' });
    await world.customer();
    await world.sequence();
    const { audit } = world.store.repositories;
    const lengthOf = async (account: keyof World['accounts']) =>
      (await audit.list(world.accounts[account], ALL)).length;
    expect([await lengthOf('acme'), await lengthOf('other')]).toEqual([2, 1]);
  });

  // SQLite numbers in the commit of what is recorded: staging.test.ts.
  it.runIf(engine.name === 'PostgreSQL')(
    'leaves everything to number when it is broken off before its commit',
    async () => {
      await using world = await createWorld({ engine });
      await recordSome(world, 40);
      await world.store
        .transaction(async (repositories) => {
          await numberStaged(repositories, world.accounts.acme);
          throw new Error('killed');
        })
        .catch(() => {});
      expect((await recordOfAcme(world)).audit).toEqual([]);
      await recordSome(world, 5, world.store, 'later');
      await world.sequence();
      const { audit } = await recordOfAcme(world);
      expect(new Set(subjects(audit)).size).toBe(45);
      expect(audit).toHaveLength(45);
    },
  );

  it('numbers once even without the lease', async ({ world }) => {
    await recordSome(world, 600);
    const once = () => sequence(world.store, (work) => world.store.transaction(work));
    // Two first rows of one account exclude each other: whoever loses comes again.
    await Promise.allSettled([once(), once(), once()]);
    await once();
    expect((await recordOfAcme(world)).audit).toHaveLength(600);
  });

  it('signs the first row, the last one after a thousand more, and the last one an hour after', async ({ world }) => {
    const { acme } = world.accounts;
    const { checkpoints, signingKeys } = world.store.repositories;
    const sign = (now: string) => signCheckpoints(world.store, world.store.transaction, partsOf(now));
    for (const count of [1, 999, 1]) {
      await recordSome(world, count, world.store, `of ${count}`);
      await sequenceNow(world.store);
      await sign(STARTED_AT);
    }
    await recordSome(world, 500, world.store, 'more');
    await sequenceNow(world.store);
    await sign('2026-11-21T10:59:59.999Z');
    await sign('2026-11-21T11:00:00.000Z');
    await sign('2026-11-21T13:00:00.000Z');
    await recordSome(world, 1, world.store, 'last');
    await sequenceNow(world.store);
    // A clock that is put right: the last checkpoint is of a time to come.
    await sign('2026-11-20T10:00:00.000Z');
    const signed = await checkpoints.list(acme, { after: 0, limit: 10 });
    expect(signed.map(({ seq, at }) => [seq, at])).toEqual([
      [1, STARTED_AT],
      [1_001, STARTED_AT],
      [1_501, '2026-11-21T11:00:00.000Z'],
      [1_502, '2026-11-20T10:00:00.000Z'],
    ]);
    const keys = (await signingKeys.list(acme)).map(({ publicPem }) => toJwk(publicPem));
    const rows = await world.store.repositories.audit.list(acme, ALL);
    for (const checkpoint of signed) {
      expect(isSigned(checkpoint, keys)).toBe(true);
      expect(checkpoint.hash).toBe(rows[checkpoint.seq - 1]?.hash);
    }
  });

  it('goes on with a damaged signing key: changes are made and numbered, other accounts are signed', async ({
    world,
  }) => {
    const { acme, other } = world.accounts;
    await world.sql(`update signing_keys set private_pem = 'damaged' where account_id = '${acme}'`);
    const answers = await Promise.all([
      world.call('admin', 'POST', '/customer', { name: 'Ours' }),
      world.call('other admin', 'POST', '/customer', { name: 'Theirs' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const lines: string[] = [];
    const jobs = createJobs({
      store: world.store,
      log: await createLog('json', { write: (line) => lines.push(line) }),
    });
    await sequenceNow(world.store);
    jobs.start([checkpointJob(world.store, partsOf())]);
    jobs.wake('checkpoints');
    await expect.poll(() => jobs.health()).toMatchObject([{ runs: 1, failures: 1 }]);
    await jobs.stop();
    const { audit, checkpoints } = world.store.repositories;
    expect((await audit.list(acme, ALL)).map(({ seq }) => seq)).toEqual([1]);
    expect(await checkpoints.list(acme, { after: 0, limit: 10 })).toEqual([]);
    expect(await checkpoints.list(other, { after: 0, limit: 10 })).toMatchObject([{ seq: 1 }]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      job: 'checkpoints',
      msg: 'job failed',
      err: {
        message: expect.stringMatching(/^the signing key \S+ of account \S+ is damaged$/),
        cause: { message: expect.stringContaining('DECODER') },
      },
    });
  });
});

describe('two replicas on PostgreSQL', () => {
  it('record and number at one time, without a gap or a double', async () => {
    await using world = await createWorld({ engine: engineOf('PostgreSQL') });
    const other = await openStore(world.location);
    const work = async (store: Store, prefix: string) => {
      for (let round = 0; round < 20; round += 1) {
        await recordSome(world, 7, store, `${prefix}${round}`);
        await sequenceNow(store);
      }
    };
    await Promise.all([work(world.store, 'ours'), work(other, 'theirs')]);
    await other.close();
    await world.sequence();
    const { audit } = await recordOfAcme(world);
    expect(new Set(subjects(audit)).size).toBe(280);
    expect(audit).toHaveLength(280);
  });
});
