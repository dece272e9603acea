import type { devices } from '../contract/devices.ts';
import { DEFAULT_PAGE_SIZE } from '../contract/fields.ts';
import { seesSecrets } from '../domain/access.ts';
import { showKey } from '../domain/license-key.ts';
import { productsOf } from './keys/lists.ts';
import { showDevice, showNames } from './keys/show.ts';
import { anyone, type Operations } from './operation.ts';

/** A token that is limited to some products finds the devices of their keys. */
export const deviceListOperations: Operations<typeof devices> = {
  list: {
    authorize: anyone,
    async perform({ repositories, caller }, { productId, limit = DEFAULT_PAGE_SIZE, cursor = '', ...filters }) {
      const wanted = { productIds: productsOf(caller, productId), ...filters };
      const page = { after: cursor === '' ? undefined : cursor, limit };
      const { items, next } = await repositories.devices.page(caller.accountId, wanted, page);
      const shown = items.map(({ device, key, licenseId, productId, customerId, ...names }) => ({
        ...showDevice(device, caller),
        ...{ licenseId, productId, customerId, ...showNames(names, caller) },
        licenseKey: showKey(key, seesSecrets(caller)),
      }));
      return { items: shown, meta: { limit, next } };
    },
  },
};
