import { describe, expect } from 'vitest';
import { now } from '../domain/examples.ts';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { device } from '../support/store-fixture.ts';

describe.each(engines)('rows on $name', (engine) => {
  const it = testsOn(engine);

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
