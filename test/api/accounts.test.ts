import { describe, expect } from 'vitest';
import { engines } from '../support/engines.ts';
import { testsOn } from '../support/fixtures.ts';
import { askWith, idCases } from '../support/id-kinds.ts';
import { absentIds, furnish } from '../support/requests.ts';
import { createWorld } from '../support/world.ts';

describe.each(engines)('two accounts in one database on $name', (engine) => {
  const it = testsOn(engine);

  it.for(idCases)('$name answers $kinds of the other account as of nobody', async ({ kinds, ...named }, { world }) => {
    const own = await furnish(world);
    const foreign = await furnish(world, 'other admin');
    const before = await world.contents();

    const absentAnswer = await askWith(world, 'admin', named, own, kinds, absentIds);
    const foreignAnswer = await askWith(world, 'admin', named, own, kinds, foreign);

    // A list that is narrowed to what is not there is empty.
    if (named.name.endsWith('.list')) expect(foreignAnswer.text).toContain('"data":[]');
    else expect(foreignAnswer.status).toBe(404);
    expect(foreignAnswer).toEqual(absentAnswer);
    expect(await world.contents()).toEqual(before);
  });

  it.each(['/customer', '/product', '/token', '/session/list'])(
    'GET %s lists nothing of the other account',
    async (path) => {
      await using world = await createWorld({ engine });
      const own = await furnish(world);
      const foreign = await furnish(world, 'other admin');
      const mine = await world.call('admin', 'GET', path);
      const theirs = await world.call('other admin', 'GET', path);
      expect(mine.body.data.some(({ id }: { id: string }) => Object.values(own).includes(id))).toBe(true);
      for (const id of Object.values(foreign)) expect(mine.text).not.toContain(id);
      for (const id of Object.values(own)) expect(theirs.text).not.toContain(id);
    },
  );

  it('may have customers of one e-mail address, one in each', async ({ world }) => {
    const zoe = { name: 'Zoë', email: 'zoe@example.com' };
    const answers = [
      await world.call('admin', 'POST', '/customer', zoe),
      await world.call('other admin', 'POST', '/customer', zoe),
      await world.call('admin', 'POST', '/customer', zoe),
      await world.call('other admin', 'POST', '/customer', zoe),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 409, 409]);
  });

  it('may have the same product and key, one in each, and each sees its own', async ({ world }) => {
    const { productId, licenseKey } = await furnish(world);
    await world.sql(`insert into products
      select '${world.accounts.other}', id, name, active, created_at, updated_at from products`);
    const theirs = await world.call('other admin', 'POST', '/create-key', { productId });
    await world.sql(`update licenses set license_key = '${licenseKey}' where license_key = '${theirs.body.key}'`);

    const path = `/key?${new URLSearchParams({ productId, licenseKey })}`;
    const shown = [await world.call('admin', 'GET', path), await world.call('other admin', 'GET', path)];
    expect(shown.map(({ body }) => body.data.license.activations)).toEqual([1, 0]);
    const freed = await world.call('other admin', 'POST', '/deactivate-key', { productId, licenseKey });
    expect(freed.body).toEqual({ message: 'License not activated', code: 2 });
  });
});
