import { describe, expect, it } from 'vitest';
import { openShop } from './shop.ts';

async function openCustomers() {
  const shop = await openShop();
  for (const name of ['Zoe', 'ada', 'Éva', 'Plant-10', 'Plant-9']) {
    await shop.answer(`customers create --name ${name}${name === 'ada' ? ' --email it@ada.example' : ''}`);
  }
  return shop;
}

describe('--sort', () => {
  it.each([
    ['name', ['ada', 'Éva', 'Plant-9', 'Plant-10', 'Zoe']],
    ['name:desc', ['Zoe', 'Plant-10', 'Plant-9', 'Éva', 'ada']],
  ])('%s sorts names by their letters, and numbers in them by their value', async (order, expected) => {
    const { answer, json } = await openCustomers();
    const names = (text: string) => text.split('\n');
    expect(names(await answer(`customers list --sort ${order} --fields name --format tsv`))).toEqual(expected);
    const rows = await json(`customers list --sort ${order}`);
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(expected);
    const ids = rows.map(({ id }: { id: string }) => id);
    expect(names(await answer(`customers list --sort ${order} -q`))).toEqual(ids);
  });

  it.each(['email', 'email:desc'])('%s puts what has none last', async (order) => {
    const { answer } = await openCustomers();
    expect((await answer(`customers list --sort ${order} --fields name --format tsv`)).split('\n')[0]).toBe('ada');
  });

  it('sorts numbers as such', async () => {
    const { answer } = await openShop();
    for (const limit of [10, 9, 100]) await answer(`keys create --max-activations ${limit}`);
    expect(await answer('keys list --sort maxActivations --fields maxActivations --format tsv')).toBe('9\n10\n100');
  });

  it('names a field of the list, and is for lists alone', async () => {
    const { at } = await openCustomers();
    expect(await at('customers list --sort nothing')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there is no field 'nothing'"),
    });
    expect((await at('customers list --sort name:down')).code).toBe(2);
    expect(await at('customers get ada --sort name')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('--sort is for lists'),
    });
  });
});
