import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import type { Pickable } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { cut, layOut } from '../output/table.ts';
import { sanitise } from '../output/terminal.ts';
import { nothing, relative, usageInBrief } from '../output/words.ts';
import type { Choice } from './prompt.ts';

type Picker = (context: CommandContext, values: Readonly<Record<string, unknown>>) => Promise<string | null>;

/** The pickers, by what they are for. They see the values of the command that are known. */
export const pickers: Readonly<Record<Pickable, Picker>> = {
  product: ({ client, io }) =>
    askWith(io, 'which product?', async () => {
      const { items } = await (await client()).products.list();
      return filtering(items.map(({ id, name, active }) => row(id, name, active ? '' : 'inactive', id)));
    }),

  customer: ({ client, io }) =>
    askWith(io, 'which customer? type a part of the name', async () => {
      const { customers } = await client();
      return searching(async (text) => {
        const { items } = await customers.list({ text, page: 1, limit: MAX_CHOICES });
        return items.map(({ id, name, email }) => row(id, name, email ?? '', id));
      });
    }),

  key: ({ client, io }, { product }) =>
    askWith(io, 'which key? type a part of it, or of its customer', async () => {
      const { keys, customers } = await client();
      const productId = typeof product === 'string' ? product : undefined;
      return searching(async (text) => {
        const { items } = await keys.list({ productId, text, page: 1, limit: MAX_CHOICES });
        const names = await namesOf(
          items.map(({ customerId }) => customerId),
          customers,
        );
        return items
          .filter(({ key }) => !isMaskedKey(key))
          .map(({ key, customerId, activations, maxActivations, expirationDate }) =>
            row(
              key,
              key,
              names.get(customerId ?? '') ?? customerId ?? nothing,
              usageInBrief(activations, maxActivations),
              expiryInBrief(expirationDate, io.now()),
            ),
          );
      });
    }),

  device: async ({ client, io, productOf }, { key, product }) => {
    const licenseKey = String(key);
    const productId = await productOf(licenseKey, typeof product === 'string' ? product : undefined);
    const { devices } = (await (await client()).keys.get({ productId, licenseKey })).license;
    if (devices.length === 0) throw new UsageError('this key has no device: none was activated, or all were freed');
    return askWith(io, 'which device?', async () =>
      filtering(
        devices.map(({ hostId, deviceTag, activationTime }) =>
          row(hostId, hostId, deviceTag, `activated ${relative(activationTime, io.now())}`),
        ),
      ),
    );
  },

  token: ({ client, io }) =>
    askWith(io, 'which token?', async () => {
      const { items } = await (await client()).tokens.list();
      const alive = items.filter(({ revokedAt }) => revokedAt === null);
      return filtering(alive.map(({ id, name, kind }) => row(id, name, kind, id)));
    }),

  session: ({ client, io }) =>
    askWith(io, 'which session?', async () => {
      const { items } = await (await client()).sessions.list();
      return filtering(items.map(({ id, hostId }) => row(id, hostId ?? nothing, id)));
    }),
};

/** About as many as a terminal shows at once. */
const MAX_CHOICES = 20;

/** How long nothing more is typed before the service is asked. */
const PAUSE_MS = 150;

/** Something to pick: what names it, and what is shown of it, in columns. */
interface Row {
  readonly value: string;
  readonly cells: readonly string[];
}

const row = (value: string, ...cells: readonly string[]): Row => ({ value, cells: cells.map(sanitise) });

const expiryInBrief = (expiresAt: string | null | undefined, now: number): string => {
  if (!expiresAt) return 'never expires';
  return `${Date.parse(expiresAt) > now ? 'expires' : 'expired'} ${relative(expiresAt, now)}`;
};

/** The rows that fit what was typed so far. */
type FindRows = (typed: string, signal: AbortSignal) => Promise<readonly Row[]>;

/** Asks a person to choose among the rows that are found; null when there is none. */
async function askWith(
  io: CommandContext['io'],
  question: string,
  open: () => Promise<FindRows>,
): Promise<string | null> {
  const find = await open();
  const first = await find('', new AbortController().signal);
  if (first.length === 0) return null;
  return io.prompter.search(question, async (typed, signal) => asChoices(await find(typed, signal), io.stderr.columns));
}

const MARK_WIDTH = 2;

/** Choices of a line each, with their cells in columns; a column that is empty everywhere is left out. */
function asChoices(rows: readonly Row[], columns: number): Choice[] {
  const lines = layOut(rows.map(({ cells }) => cells.filter((_, at) => rows.some((row) => row.cells[at] !== ''))));
  return rows.map(({ value, cells }, at) => ({
    value,
    name: cut(lines[at] ?? '', columns - MARK_WIDTH),
    short: cells[0] ?? value,
  }));
}

/** Finds among rows that are all there, by any part of what they show. */
const filtering =
  (rows: readonly Row[]): FindRows =>
  async (typed) =>
    rows.filter(({ cells }) => cells.join('  ').toLowerCase().includes(typed.trim().toLowerCase()));

/** Finds with the service, which is asked once a person pauses. */
function searching(ask: (text: string | undefined) => Promise<readonly Row[]>): FindRows {
  const asked = new Map<string, Promise<readonly Row[]>>();
  return async (typed, signal) => {
    const text = typed.trim();
    if (text !== '') await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return [];
    const answer = asked.get(text) ?? ask(text === '' ? undefined : text);
    asked.set(text, answer);
    // One that failed may succeed when it is asked again.
    answer.catch(() => asked.delete(text));
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
