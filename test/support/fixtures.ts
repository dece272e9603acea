import { test as base } from 'vitest';
import type { License } from '../../src/domain/license.ts';
import type { Store } from '../../src/store/store.ts';
import { createDeliveryWorld, type DeliveryWorld } from './deliveries.ts';
import { createFolder, type Engine, engines, type TestDatabase } from './engines.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { startTestServer, type TestServer } from './server.ts';
import { databaseWithLicense } from './store-fixture.ts';
import { createWorld, type World } from './world.ts';

interface Fixtures {
  readonly world: World;
  /** A product of the world. */
  readonly productId: string;
  /** A database with one licence. */
  readonly database: TestDatabase & { readonly license: License };
  readonly store: Store;
  readonly license: License;
  /** A world that sends webhooks. */
  readonly it: DeliveryWorld;
  readonly receiver: Receiver;
  /** A server with a database of its own. */
  readonly service: TestServer;
  readonly folder: { readonly path: string };
  /** Where a database may be made in the folder. */
  readonly db: string;
}

/** Passes on what is made, until the test has ended. */
async function lend<T extends AsyncDisposable>(made: Promise<T>, use: (made: T) => Promise<void>): Promise<void> {
  await using lent = await made;
  await use(lent);
}

/** Tests on an engine. What a test names among its parameters is made for it alone. */
export const testsOn = (engine: Engine | undefined) => {
  if (engine === undefined) throw new Error('there is no such engine');
  return base.extend<Fixtures>({
    world: ({ task: _ }, use) => lend(createWorld({ engine }), use),
    productId: async ({ world }, use) => use((await world.product()).id),
    database: ({ task: _ }, use) => lend(databaseWithLicense(engine), use),
    store: ({ database }, use) => use(database.store),
    license: ({ database }, use) => use(database.license),
    it: ({ task: _ }, use) => lend(createDeliveryWorld(engine), use),
    receiver: ({ task: _ }, use) => lend(startReceiver(), use),
    service: ({ task: _ }, use) => lend(startTestServer(), use),
    folder: ({ task: _ }, use) => lend(createFolder(), use),
    db: ({ folder }, use) => use(`${folder.path}/lkm.db`),
  });
};

/** Tests on the first engine. */
export const test = testsOn(engines[0]);
