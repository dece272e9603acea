import type { Client } from '../../client/client.ts';
import type { CallOptions } from '../../client/options.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import { keepPrepared, readPrepared, readRows, type StoredRun } from '../state/runs.ts';
import type { State } from '../state/state.ts';
import { type Lane, openLane } from './lane.ts';
import type { BulkOperation, Mode } from './operation.ts';
import type { Problems } from './reading/problems.ts';
import type { RowBody } from './reading/read-bodies.ts';
import { preparationKey } from './run.ts';

/** Something that rows refer to and that has to be there before they are sent. */
export interface Need {
  readonly kind: 'customer' | 'product' | 'version';
  /** Tells it from others of its kind: an e-mail address, in lower case. */
  readonly name: string;
  /** What it takes to make it; null when the rows do not say enough. */
  readonly input: Readonly<Record<string, string>> | null;
  /** Why it cannot be made without `input`. */
  readonly lacks?: string;
}

/** How an operation finds what its rows need, and makes what is not there. */
export interface Preparation {
  needsOf(body: Readonly<Record<string, unknown>>, mode: Mode): readonly Need[];
  /** Its id; null when it is not there. */
  find(client: Client, need: Need): Promise<string | null>;
  /** Makes it, or finds the one that somebody else has made meanwhile; its id. */
  make(client: Client, need: Need, call: CallOptions): Promise<string>;
  /** The body of a row with the ids of what it needs. */
  fill?(body: Readonly<Record<string, unknown>>, idOf: (need: Need) => string): Readonly<Record<string, unknown>>;
}

/** A need with the line of the file that was the first to have it. */
export interface FirstNeed extends Need {
  readonly line: number | null;
}

export const needKey = ({ kind, name }: Pick<Need, 'kind' | 'name'>): string => `${kind} ${name}`;

/** Collects what rows need, each once: the first row that says how it is made counts. */
export function collectNeeds({ preparation }: BulkOperation, mode: Mode) {
  const needs = new Map<string, FirstNeed>();
  const lacking: FirstNeed[] = [];
  return {
    needs,
    add({ body, line }: RowBody): void {
      for (const need of preparation?.needsOf(body, mode) ?? []) {
        const known = needs.get(needKey(need));
        if (need.input === null) lacking.push({ ...need, line });
        if (known === undefined || known.input === null) needs.set(needKey(need), { ...need, line });
      }
    },
    /** The rows whose need nobody says how to make. */
    lacking: () => lacking.filter((need) => needs.get(needKey(need))?.input === null),
  };
}

/** What is known of needs: the id of each that is there, null of each that is to be made. */
export type FoundNeeds = ReadonlyMap<string, string | null>;

/** A need as a dry run shows it. */
export interface PlannedNeed extends Pick<Need, 'kind' | 'name'> {
  readonly status: 'exists' | 'new';
  readonly id?: string;
}

const LOOKUPS_AT_ONCE = 16;

/** Finds out which needs of the rows are there. One that is not, and that nobody says how to make, is a problem of its rows. */
export async function planNeeds(
  { io, client }: CommandContext,
  operation: BulkOperation,
  { needs, lacking }: ReturnType<typeof collectNeeds>,
  problems: Problems,
): Promise<{ readonly found: FoundNeeds; readonly planned: readonly PlannedNeed[] }> {
  if (needs.size === 0) return { found: new Map(), planned: [] };
  const found = new Map<string, string | null>();
  const service = await client();
  await openLane(LOOKUPS_AT_ONCE, io).each(needs.values(), async (need) => {
    found.set(needKey(need), (await operation.preparation?.find(service, need)) ?? null);
  });
  for (const need of lacking()) {
    if (found.get(needKey(need)) === null) problems.add({ line: need.line, text: need.lacks ?? '' });
  }
  const planned = [...needs].map(([key, { kind, name }]): PlannedNeed => {
    const id = found.get(key) ?? null;
    return { kind, name, ...(id === null ? { status: 'new' } : { status: 'exists', id }) };
  });
  return { found, planned };
}

/** Versions belong to products, which are made before them. */
const kinds = ['product', 'version', 'customer'] as const;

interface Preparing {
  readonly operation: BulkOperation;
  readonly client: Client;
  readonly lane: Lane;
  readonly stop: AbortSignal;
  /** What was asked just now: one that was not there then is not looked for again. */
  readonly found: FoundNeeds;
}

/**
 * Finds each need of the rows of a run, or makes it, under an idempotency key of its own, which comes from the run and
 * the need. Returns what puts their ids into a body.
 */
export async function prepareRows(
  state: State,
  stored: StoredRun,
  { operation, client, lane, stop, found }: Preparing,
): Promise<(body: RowBody['body']) => RowBody['body']> {
  const { preparation, repeatsSafely } = operation;
  if (preparation === undefined) return (body) => body;
  const { needs, add } = collectNeeds(operation, stored.run.mode);
  for (const row of readRows(state, stored, { now: 0, repeatsSafely })) add(row);
  const ids = readPrepared(state, stored);
  const fresh = new Map([...found].flatMap(([key, id]) => (id === null ? [] : [[key, id] as const])));
  const idOf = (need: Need): string => ids.get(needKey(need)) ?? fresh.get(needKey(need)) ?? '';
  const open = [...needs.values()].filter((need) => idOf(need) === '');
  try {
    for (const kind of kinds) {
      const ofKind = open.filter((need) => need.kind === kind);
      await lane.each(ofKind, async (need) => {
        const call = { idempotencyKey: preparationKey(stored.run.id, [kind, need.name]), signal: stop };
        const id = found.has(needKey(need)) ? null : await preparation.find(client, need);
        fresh.set(needKey(need), id ?? (await preparation.make(client, makeable(need), call)));
      });
    }
  } finally {
    // Before a row is sent with an id: a later process has to send the same bytes.
    state.transaction(() => {
      for (const [key, id] of fresh) keepPrepared(state, stored, key, id);
    });
  }
  return (body) => preparation.fill?.(body, idOf) ?? body;
}

/** Rows are checked before a run begins: what one of them lacks has been there then. */
function makeable(need: FirstNeed): Need {
  if (need.input !== null) return need;
  throw new UsageError(`${need.line === null ? '' : `line ${need.line}: `}${need.lacks}`);
}
