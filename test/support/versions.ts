import { STARTED_AT, type World } from './world.ts';

/** Gives a product the version ver_1. */
export const addVersion = (world: World, productId: string): Promise<boolean> =>
  world.store.transaction((repositories) =>
    repositories.productVersions.insert({
      accountId: world.accounts.acme,
      id: 'ver_1',
      productId,
      version: '1.0',
      description: null,
      createdAt: STARTED_AT,
    }),
  );
