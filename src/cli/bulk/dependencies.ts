import type { Client } from '../../client/client.ts';
import type { CallOptions } from '../../client/options.ts';
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
  /** The ids of the objects that exist. */
  readonly ids = new Map<string, string>();
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
  async find(client: Client, limiter: ConcurrencyLimiter, problems: Problems): Promise<void> {
    await limiter.each(this.all, async ([key, dependency]) => {
      const id = await this.#preparation?.find(client, dependency);
      if (id != null) this.ids.set(key, id);
    });
    for (const { dependency, line } of this.#lacking) {
      const key = keyOf(dependency);
      if (this.all.get(key)?.input === null && !this.ids.has(key)) problems.add(line, dependency.missingText ?? '');
    }
  }

  /** Creates missing objects, each under its own idempotency key: all of one kind before the next kind. */
  async create(client: Client, limiter: ConcurrencyLimiter, run: Run, signal: AbortSignal): Promise<void> {
    const preparation = this.#preparation;
    if (preparation === undefined) return;
    for (const ofKind of Map.groupBy(this.all, ([, { kind }]) => kind).values()) {
      const missing = ofKind.filter(([key]) => !this.ids.has(key));
      await limiter.each(missing, async ([key, dependency]) => {
        const idempotencyKey = preparationKey(run, [dependency.kind, dependency.name]);
        this.ids.set(key, await createOrFind(preparation, client, dependency, { idempotencyKey, signal }));
      });
    }
  }

  /** Replaces the names in a body by ids. */
  fill(body: Body): Body {
    const { dependenciesOf, fill } = this.#preparation ?? {};
    if (dependenciesOf === undefined || fill === undefined) return body;
    const found = dependenciesOf(body, this.#mode).map((one) => [one.kind, this.ids.get(keyOf(one))] as const);
    return fill(body, Object.fromEntries(found));
  }
}

async function createOrFind(
  { find, make }: Preparation,
  client: Client,
  dependency: Dependency,
  call: CallOptions,
): Promise<string> {
  const { kind, name, input, missingText = `${kind} ${name} is missing` } = dependency;
  // If the name is taken, somebody created the object meanwhile.
  const created = input && (await unlessRefused(taken[kind], make(client, dependency, call)));
  const id = created ?? (await find(client, dependency));
  // The object existed when the rows were checked.
  if (id === null) throw new UsageError(missingText);
  return id;
}
