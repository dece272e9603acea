import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client/client.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import type { Pickable } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { type NearObject, UsageError } from '../failure/errors.ts';
import { cut, layOut } from '../output/table.ts';
import { sanitise } from '../output/terminal.ts';
import { EMPTY_CELL, expiryInBrief, relative, usageInBrief } from '../output/words.ts';
import { type NamedObject, type Noun, objects } from '../request/named-objects.ts';
import type { Choice } from './prompt.ts';

/** An object to pick: the value that names it, and cells for the columns. */
type Row = readonly [value: string, ...cells: string[]];

type FindRows = (typed: string, signal: AbortSignal) => Promise<readonly Row[]>;

type Values = Readonly<Record<string, unknown>>;

interface Picker {
  readonly question: string;
  open(client: Client, context: CommandContext, values: Values): Promise<FindRows> | FindRows;
}

/** About a screenful. */
const MAX_CHOICES = 20;

/** Pickers of keys and devices, which have no names. */
const pickers: Readonly<Record<Exclude<Pickable, Noun>, Picker>> = {
  key: {
    question: 'which key? type a part of it, or of its customer',
    open: ({ keys }, { io }, { product }) =>
      searching(async (text) => {
        const productId = typeof product === 'string' ? product : undefined;
        const { items } = await keys.list({ productId, text, page: 1, limit: MAX_CHOICES });
        const expiry = (at: string | null = null): string => `expires ${expiryInBrief(at, io.now())}`;
        return items.flatMap(
          ({ key, customerId, customerName, activations, maxActivations, expirationDate }): Row[] => {
            if (isMaskedKey(key)) return [];
            const customer = customerName ?? customerId ?? EMPTY_CELL;
            return [[key, key, customer, usageInBrief(activations, maxActivations), expiry(expirationDate)]];
          },
        );
      }),
  },
  device: {
    question: 'which device?',
    open: async ({ keys }, { io, productOf }, { key, product }) => {
      const licenseKey = String(key);
      const productId = await productOf(licenseKey, typeof product === 'string' ? product : undefined);
      const { devices } = (await keys.get({ productId, licenseKey })).license;
      if (devices.length === 0) throw new UsageError('this key has no device: none was activated, or all were freed');
      return filtering(
        devices.map(({ hostId, deviceTag, activationTime }) => {
          return [hostId, hostId, deviceTag, `activated ${relative(activationTime, io.now())}`];
        }),
      );
    },
  },
};

const pickerOf = (noun: Noun): Picker =>
  noun === 'customer'
    ? {
        question: 'which customer? type a part of the name',
        open: (client) =>
          searching(async (text) => asRows(await objects.customer.list(client, { text, page: 1, limit: MAX_CHOICES }))),
      }
    : { question: `which ${noun}?`, open: async (client) => filtering(asRows(await objects[noun].list(client, {}))) };

const asRows = (all: readonly NamedObject[]): Row[] => all.map(({ id, cells }) => [id, ...cells, id]);

/** Lets a person pick an object; null without an object to pick. */
export async function pickObject(what: Pickable, context: CommandContext, values: Values): Promise<string | null> {
  const { question, open } = what === 'key' || what === 'device' ? pickers[what] : pickerOf(what);
  const find = await open(await context.client(), context, values);
  const first = await find('', new AbortController().signal);
  return first.length === 0 ? null : ask(question, find, context);
}

/** Lets a person pick one of a few objects; resolves to its id. */
export const pickAmong = (question: string, near: readonly NearObject[], context: CommandContext): Promise<string> =>
  ask(question, filtering(near.map(([id, ...known]) => [id, ...known, id])), context);

const ask = (question: string, find: FindRows, { io, settings }: CommandContext): Promise<string> =>
  io
    .prompter(settings)
    .search(question, async (typed, signal) => asChoices(await find(typed, signal), io.stderr.columns));

const MARK_WIDTH = 2;

/** Aligns cells in columns; a column that is empty everywhere is left out. */
function asChoices(rows: readonly Row[], columns: number): Choice[] {
  const cells = rows.map(([, ...shown]) => shown.map(sanitise));
  const lines = layOut(cells.map((shown) => shown.filter((_, at) => cells.some((other) => other[at] !== ''))));
  return rows.map(([value], at) => ({
    value,
    name: cut(lines[at] ?? '', columns - MARK_WIDTH),
    short: cells[at]?.[0] ?? value,
  }));
}

/** Searches loaded rows. */
const filtering =
  (rows: readonly Row[]): FindRows =>
  async (typed) =>
    rows.filter(([, ...cells]) => cells.join('  ').toLowerCase().includes(typed.trim().toLowerCase()));

/** A pause in typing after which the service is asked. */
const PAUSE_MS = 150;

/** Searches with the service, after a pause in typing. */
function searching(ask: (text: string | undefined) => Promise<readonly Row[]>): FindRows {
  return async (typed, signal) => {
    const text = typed.trim();
    if (text !== '') await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return [];
    return ask(text || undefined);
  };
}
