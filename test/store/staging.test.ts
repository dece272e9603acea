import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import type { AccountId } from '../../src/contract/scalars.ts';
import { createRandom } from '../../src/service/context.ts';
import { createRecorder, type RecordedMutation } from '../../src/service/record.ts';
import type { Repositories } from '../../src/store/store.ts';
import { test as it } from '../support/fixtures.ts';
import { readRecord } from '../support/recorded.ts';
import { STARTED_AT, type World } from '../support/world.ts';

const record = createRecorder(createRandom());

const mutation = (world: World, id: string, accountId = world.accounts.acme): RecordedMutation => ({
  accountId,
  at: STARTED_AT,
  actor: { type: 'token', id: 'tok_1' },
  address: null,
  door: 'http',
  requestId: null,
  operation: 'customers.create',
  events: [{ type: 'customer.created', resource: { type: 'customer', id } }],
});

/** Of what each audit row and each event of an account is, in order. */
async function recorded({ store, accounts }: World, accountId = accounts.acme) {
  const { audit, events } = await readRecord(store, accountId);
  const ids = audit.map(({ resource }) => resource.id as string);
  expect(events.map(({ resource_id }) => resource_id)).toEqual(ids);
  return ids;
}

describe('what is recorded where transactions share a commit', () => {
  it('is dropped with a transaction that fails, and with a part that is undone', async ({ world }) => {
    const fail = async (repositories: Repositories) => {
      await record(repositories, mutation(world, 'cus_undone'));
      throw new Error('refused');
    };
    const settled = await Promise.allSettled([
      world.store.transaction((repositories) => record(repositories, mutation(world, 'cus_1'))),
      world.store.transaction(fail),
      world.store.transaction(async (repositories) => {
        await record(repositories, mutation(world, 'cus_2'));
        await repositories.nested(() => fail(repositories)).catch(() => {});
        await record(repositories, mutation(world, 'cus_3'));
      }),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await recorded(world)).toEqual(['cus_1', 'cus_2', 'cus_3']);
  });

  it('undoes every transaction of a commit in which it cannot be numbered, and takes no number', async ({ world }) => {
    const { store } = world;
    await store.transaction((repositories) => record(repositories, mutation(world, 'cus_1')));
    using database = new DatabaseSync(world.location);
    database.exec(`create trigger no_events before insert on events begin select raise(abort, 'no'); end`);
    const lost = await Promise.allSettled(
      ['cus_2', 'cus_3'].map((id) => store.transaction((repositories) => record(repositories, mutation(world, id)))),
    );
    expect(lost.map((result) => result.status === 'rejected' && result.reason.name)).toEqual([
      'StorageError',
      'StorageError',
    ]);
    database.exec('drop trigger no_events');
    await store.transaction((repositories) => record(repositories, mutation(world, 'cus_4')));
    expect(await recorded(world)).toEqual(['cus_1', 'cus_4']);
  });

  it('is dropped with a commit that one of its transactions has ended', async ({ world }) => {
    const { store } = world;
    using database = new DatabaseSync(world.location);
    database.exec(`create trigger no_account before insert on accounts begin select raise(rollback, 'full'); end`);
    const lost = await Promise.allSettled([
      store.transaction((repositories) => record(repositories, mutation(world, 'cus_1'))),
      store.transaction(({ accounts }) =>
        accounts.insert({ id: 'acc_3' as AccountId, name: 'third', createdAt: STARTED_AT }),
      ),
    ]);
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await store.transaction((repositories) => record(repositories, mutation(world, 'cus_2')));
    expect(await recorded(world)).toEqual(['cus_2']);
  });
});
