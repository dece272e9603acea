import type { Client } from '../../client/client.ts';
import { UsageError } from '../failure/errors.ts';
import { unlessRefused } from '../request/look-ups.ts';
import type { Lane } from './lane.ts';
import type { Body, BulkOperation, Mode, Need, Preparation } from './operation.ts';
import type { Problems } from './reading/problems.ts';
import { preparationKey, type Run } from './run.ts';

const taken = { customer: 'emailTaken', product: 'productTaken', version: 'versionTaken', key: 'keyTaken' } as const;

const keyOf = ({ kind, name }: Need): string => `${kind} ${name}`;

/** The objects that the rows of a run refer to, each once, with the first input that can create it. */
export class Needs {
  readonly all = new Map<string, Need>();
  readonly #lacking: { readonly need: Need; readonly line: number | null }[] = [];
  readonly #preparation: Preparation | undefined;
  readonly #mode: Mode;

  constructor({ preparation }: BulkOperation, mode: Mode) {
    this.#preparation = preparation;
    this.#mode = mode;
  }

  add(body: Body, line: number | null): void {
    for (const need of this.#preparation?.needsOf(body, this.#mode) ?? []) {
      if (need.input === null) this.#lacking.push({ need, line });
      if (this.all.get(keyOf(need))?.input == null) this.all.set(keyOf(need), need);
    }
  }

  /** Finds existing objects. A missing one that no row can create is a problem of its rows. */
  async find(client: Client, lane: Lane, problems: Problems): Promise<ReadonlyMap<string, string>> {
    const ids = new Map<string, string>();
    await lane.each(this.all, async ([key, need]) => {
      const id = await this.#preparation?.find(client, need);
      if (id != null) ids.set(key, id);
    });
    for (const { need, line } of this.#lacking) {
      const key = keyOf(need);
      if (this.all.get(key)?.input === null && !ids.has(key)) problems.add(line, need.lacks ?? '');
    }
    return ids;
  }
}

export interface Preparing {
  readonly run: Run;
  readonly operation: BulkOperation;
  readonly mode: Mode;
  readonly needs: Needs;
  /** The ids of existing objects. */
  readonly found: ReadonlyMap<string, string>;
}

/** Creates missing objects, each under its own key; returns a function that puts the ids into a body. */
export async function prepare(
  { run, operation: { preparation }, mode, needs, found }: Preparing,
  client: Client,
  lane: Lane,
  stop: AbortSignal,
): Promise<(body: Body) => Body> {
  if (preparation === undefined) return (body) => body;
  const { needsOf, find, make, fill } = preparation;
  const ids = new Map(found);

  async function findOrMake(need: Need): Promise<string> {
    const call = { idempotencyKey: preparationKey(run, [need.kind, need.name]), signal: stop };
    // If the name is taken, somebody created the object meanwhile.
    const made = need.input && (await unlessRefused(taken[need.kind], make(client, need, call)));
    const id = made ?? (await find(client, need));
    // The object existed when the rows were checked.
    if (id === null) throw new UsageError(need.lacks ?? `${need.kind} ${need.name} is missing`);
    return id;
  }

  for (const ofKind of Map.groupBy(needs.all, ([, { kind }]) => kind).values()) {
    const missing = ofKind.filter(([key]) => !ids.has(key));
    await lane.each(missing, async ([key, need]) => void ids.set(key, await findOrMake(need)));
  }
  return (body) =>
    fill?.(body, Object.fromEntries(needsOf(body, mode).map((need) => [need.kind, ids.get(keyOf(need))]))) ?? body;
}
