import type { Client } from '../../client/client.ts';
import { UsageError } from '../failure/errors.ts';
import { unlessRefused } from '../request/look-ups.ts';
import type { ConcurrencyLimiter } from './concurrency-limiter.ts';
import type { Body, BulkOperation, Dependency, Mode, Preparation } from './operation.ts';
import type { Problems } from './reading/problems.ts';
import { preparationKey, type Run } from './run.ts';

const taken = { customer: 'emailTaken', product: 'productTaken', version: 'versionTaken', key: 'keyTaken' } as const;

const keyOf = ({ kind, name }: Dependency): string => `${kind} ${name}`;

/** The objects that the rows of a run refer to, each once, with the first input that can create it. */
export class Dependencies {
  readonly all = new Map<string, Dependency>();
  readonly #lacking: { readonly dependency: Dependency; readonly line: number | null }[] = [];
  readonly #preparation: Preparation | undefined;
  readonly #mode: Mode;

  constructor({ preparation }: BulkOperation, mode: Mode) {
    this.#preparation = preparation;
    this.#mode = mode;
  }

  add(body: Body, line: number | null): void {
    for (const dependency of this.#preparation?.dependenciesOf(body, this.#mode) ?? []) {
      if (dependency.input === null) this.#lacking.push({ dependency, line });
      if (this.all.get(keyOf(dependency))?.input == null) this.all.set(keyOf(dependency), dependency);
    }
  }

  /** Finds existing objects. A missing object that no row can create is a problem of its rows. */
  async find(client: Client, limiter: ConcurrencyLimiter, problems: Problems): Promise<ReadonlyMap<string, string>> {
    const ids = new Map<string, string>();
    await limiter.each(this.all, async ([key, dependency]) => {
      const id = await this.#preparation?.find(client, dependency);
      if (id != null) ids.set(key, id);
    });
    for (const { dependency, line } of this.#lacking) {
      const key = keyOf(dependency);
      if (this.all.get(key)?.input === null && !ids.has(key)) problems.add(line, dependency.missingText ?? '');
    }
    return ids;
  }
}

export interface Preparing {
  readonly run: Run;
  readonly operation: BulkOperation;
  readonly mode: Mode;
  readonly dependencies: Dependencies;
  /** The ids of existing objects. */
  readonly found: ReadonlyMap<string, string>;
}

/** Creates missing objects, each under its own key; returns a function that puts the ids into a body. */
export async function prepare(
  { run, operation: { preparation }, mode, dependencies, found }: Preparing,
  client: Client,
  limiter: ConcurrencyLimiter,
  stop: AbortSignal,
): Promise<(body: Body) => Body> {
  if (preparation === undefined) return (body) => body;
  const { dependenciesOf, find, make, fill } = preparation;
  const ids = new Map(found);

  async function findOrMake(dependency: Dependency): Promise<string> {
    const call = { idempotencyKey: preparationKey(run, [dependency.kind, dependency.name]), signal: stop };
    // If the name is taken, somebody created the object meanwhile.
    const made = dependency.input && (await unlessRefused(taken[dependency.kind], make(client, dependency, call)));
    const id = made ?? (await find(client, dependency));
    // The object existed when the rows were checked.
    if (id === null) throw new UsageError(dependency.missingText ?? `${dependency.kind} ${dependency.name} is missing`);
    return id;
  }

  for (const ofKind of Map.groupBy(dependencies.all, ([, { kind }]) => kind).values()) {
    const missing = ofKind.filter(([key]) => !ids.has(key));
    await limiter.each(missing, async ([key, dependency]) => void ids.set(key, await findOrMake(dependency)));
  }
  return (body) =>
    fill?.(
      body,
      Object.fromEntries(dependenciesOf(body, mode).map((dependency) => [dependency.kind, ids.get(keyOf(dependency))])),
    ) ?? body;
}
