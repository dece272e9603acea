import type { Client } from '../../client/client.ts';
import type { CallOptions } from '../../client/options.ts';
import { ApiError } from '../../contract/errors.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { keepPrepared, readPrepared, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import { openLane } from './lane.ts';
import type { Body, BulkOperation, Mode } from './operation.ts';
import type { Problems } from './reading/problems.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { type OpenedRun, preparationKey } from './run.ts';

/** Something that rows refer to and that has to be there before they are sent. */
export interface Need {
  readonly kind: 'customer' | 'product' | 'version';
  /** Tells it from others of its kind: an e-mail address, in lower case. */
  readonly name: string;
  /** What it takes to make it; null when the row does not say enough. */
  readonly input: Readonly<Record<string, string>> | null;
  /** Why it cannot be made without `input`. */
  readonly lacks?: string;
}

/** How an operation finds what its rows need, and makes what is not there. */
export interface Preparation {
  /** In the order in which they are made. */
  needsOf(body: Body, mode: Mode): readonly Need[];
  /** Its id; null when it is not there. */
  find(client: Client, need: Need): Promise<string | null>;
  /** Makes it; its id. */
  make(client: Client, need: Need, call: CallOptions): Promise<string>;
  /** The body of a row with the id of its last need. */
  fill?(body: Body, id: string): Body;
}

const keyOf = ({ kind, name }: Need): string => `${kind} ${name}`;

/** What the rows of a run need, each once: the first row that says how it is made counts. */
export type Needs = ReturnType<typeof collectNeeds>;

export function collectNeeds({ preparation }: BulkOperation, mode: Mode) {
  const needs = new Map<string, Need>();
  const lacking: (Need & Pick<RowBody, 'line'>)[] = [];
  return {
    needs,
    add({ body, line }: RowBody): void {
      for (const need of preparation?.needsOf(body, mode) ?? []) {
        if (need.input === null) lacking.push({ ...need, line });
        if (needs.get(keyOf(need))?.input == null) needs.set(keyOf(need), need);
      }
    },
    /** The needs of rows that nobody says how to make. */
    lacking: () => lacking.filter((need) => needs.get(keyOf(need))?.input === null),
  };
}

/** A need as a dry run shows it: with its id where it is there. */
export interface PlannedNeed extends Pick<Need, 'kind' | 'name'> {
  readonly status: 'exists' | 'new';
  readonly id?: string;
}

const LOOKUPS_AT_ONCE = 16;

/** Finds out which needs are there. One that is not, and that nobody says how to make, is a problem of its rows. */
export async function planNeeds(
  { io, client }: CommandContext,
  { preparation }: BulkOperation,
  { needs, lacking }: Needs,
  problems: Problems,
): Promise<readonly PlannedNeed[]> {
  if (preparation === undefined || needs.size === 0) return [];
  const found = new Map<string, string>();
  const service = await client();
  await openLane(LOOKUPS_AT_ONCE, io).each(needs, async ([key, need]) => {
    const id = await preparation.find(service, need);
    if (id !== null) found.set(key, id);
  });
  for (const need of lacking()) {
    if (!found.has(keyOf(need))) problems.add({ line: need.line, text: need.lacks ?? '' });
  }
  return [...needs].map(([key, { kind, name }]): PlannedNeed => {
    const id = found.get(key);
    return { kind, name, ...(id === undefined ? { status: 'new' } : { status: 'exists', id }) };
  });
}

/** Writes down the ids of those that are there, for the rows of a run. */
export function keepPlanned(state: State, stored: StoredRun, planned: readonly PlannedNeed[]): void {
  state.transaction(() => {
    for (const { kind, name, id } of planned) if (id !== undefined) keepPrepared(state, stored, `${kind} ${name}`, id);
  });
}

/**
 * Returns what puts the ids of its needs into the body of a row. What is not there is made when the first row needs it,
 * under an idempotency key of its own, which comes from the run and the need.
 */
export function openPreparation(opened: OpenedRun, client: Client, stop: AbortSignal): (body: Body) => Promise<Body> {
  const { state, run, rows, operation } = opened;
  if (operation.preparation === undefined) return async (body) => body;
  const { needsOf, find, make, fill } = operation.preparation;
  const { needs, add } = collectNeeds(operation, run.mode);
  for (const row of rows.read()) add(row);
  const ids = new Map([...readPrepared(state, opened)].map(([key, id]) => [key, Promise.resolve(id)]));

  async function findOrMake(need: Need): Promise<string> {
    const call = { idempotencyKey: preparationKey(run.id, [need.kind, need.name]), signal: stop };
    try {
      if (need.input !== null) return await make(client, need, call);
      const id = await find(client, need);
      // Rows are checked before a run begins: what one of them lacks has been there then.
      if (id === null) throw new UsageError(need.lacks ?? `${need.name} is missing`);
      return id;
    } catch (error) {
      // Somebody else has made it since it was looked for.
      const id = isTaken(error) ? await find(client, need) : null;
      if (id === null) throw error;
      return id;
    }
  }

  async function prepared(key: string, need: Need): Promise<string> {
    const id = await findOrMake(need);
    // Before a row is sent with it: a later process has to send the same bytes.
    state.transaction(() => keepPrepared(state, opened, key, id));
    return id;
  }

  return async (body) => {
    let id = '';
    for (const need of needsOf(body, run.mode)) {
      const key = keyOf(need);
      const making = ids.get(key) ?? prepared(key, needs.get(key) ?? need);
      ids.set(key, making);
      id = await making;
    }
    return id === '' || fill === undefined ? body : fill(body, id);
  };
}

const isTaken = (error: unknown): boolean =>
  error instanceof ApiError && ['emailTaken', 'productTaken', 'versionTaken'].includes(error.reason ?? '');
