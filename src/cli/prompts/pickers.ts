import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import type { Pickable } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { sanitise } from '../output/terminal.ts';
import { expiryInBrief, nothing, usageInBrief } from '../output/words.ts';
import type { Choice, Find } from './prompt.ts';

/** Lets a person pick an object; resolves to what names it, or null when there is nothing to pick. */
type Picker = (context: CommandContext, options: Readonly<Record<string, unknown>>) => Promise<string | null>;

/** The pickers, by what they are for. */
export const pickers: Readonly<Record<Pickable, Picker>> = {
  product: ({ client, io }) =>
    picked(io, 'which product?', async () => {
      const { items } = await (await client()).products.list();
      return filtering(items.map(({ id, name, active }) => choice(id, name, active ? '' : 'inactive', id)));
    }),

  customer: ({ client, io }) =>
    picked(io, 'which customer? type a part of the name', async () => {
      const { customers } = await client();
      return searching(async (text) => {
        const { items } = await customers.list({ text, page: 1, limit: MOST });
        return items.map(({ id, name, email }) => choice(id, name, email ?? '', id));
      });
    }),

  key: ({ client, io }, { product }) =>
    picked(io, 'which key? type a part of it, or of its customer', async () => {
      const { keys, customers } = await client();
      const productId = typeof product === 'string' ? product : undefined;
      return searching(async (text) => {
        const { items } = await keys.list({ productId, text, page: 1, limit: MOST });
        const names = await namesOf(
          items.map(({ customerId }) => customerId),
          customers,
        );
        return items
          .filter(({ key }) => !key.includes('*'))
          .map(({ key, customerId, activations, maxActivations, expirationDate }) =>
            choice(
              key,
              key,
              names.get(customerId ?? '') ?? customerId ?? nothing,
              usageInBrief(activations, maxActivations),
              expiryInBrief(expirationDate, io.now()),
            ),
          );
      });
    }),

  token: ({ client, io }) =>
    picked(io, 'which token?', async () => {
      const { items } = await (await client()).tokens.list();
      const alive = items.filter(({ revokedAt }) => revokedAt === null);
      return filtering(alive.map(({ id, name, kind }) => choice(id, name, kind, id)));
    }),

  session: ({ client, io }) =>
    picked(io, 'which session?', async () => {
      const { items } = await (await client()).sessions.list();
      return filtering(items.map(({ id, hostId }) => choice(id, hostId ?? nothing, id)));
    }),
};

/** As many as a terminal shows at once. */
const MOST = 20;

/** So long nothing more is typed before the service is asked. */
const PAUSE_MS = 150;

const choice = (value: string, ...parts: readonly string[]): Choice => ({
  value,
  name: sanitise(parts.filter((part) => part !== '').join('  ')),
});

async function picked(io: CommandContext['io'], question: string, open: () => Promise<Find>): Promise<string | null> {
  const find = await open();
  const first = await find('', new AbortController().signal);
  return first.length === 0 ? null : io.prompter.search(question, find);
}

/** Finds among choices that are all there, by any part of what is shown. */
const filtering =
  (choices: readonly Choice[]): Find =>
  async (typed) =>
    choices.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()));

/** Finds with the service, which is asked once a person pauses. */
function searching(ask: (text: string | undefined) => Promise<readonly Choice[]>): Find {
  const asked = new Map<string, Promise<readonly Choice[]>>();
  return async (typed, signal) => {
    const text = typed.trim();
    if (text !== '') await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return [];
    const answer = asked.get(text) ?? ask(text === '' ? undefined : text);
    asked.set(text, answer);
    return answer;
  };
}

/** The names of customers, as far as the token may see them. */
async function namesOf(
  ids: readonly (string | null | undefined)[],
  customers: Client['customers'],
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(ids.flatMap((id) => id ?? []))];
  const found = await Promise.allSettled(known.map((customerId) => customers.get({ customerId })));
  return new Map(found.flatMap((one) => (one.status === 'fulfilled' ? [[one.value.id, one.value.name]] : [])));
}
