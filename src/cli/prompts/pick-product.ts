import type { CommandContext } from '../context.ts';
import { sanitise } from '../output/text.ts';

/** Has a product of the account picked by name; null when there is none. */
export async function pickProduct({ client, io }: CommandContext): Promise<string | null> {
  const { items: products } = await (await client()).products.list();
  if (products.length === 0) return null;
  const choices = products.map(({ id, name, active }) => ({
    value: id,
    name: sanitise(`${name}${active ? '' : ' (inactive)'}  ${id}`),
  }));
  return io.prompter.choose('which product?', choices);
}
