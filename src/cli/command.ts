import type { Scope } from '../contract/scopes.ts';
import type { CommandContext } from './context.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import type { CommandResult, Field } from './output/result.ts';

/** Reads the text of an option or argument; throws `UsageError`. An argument sees the values of the options. */
export type Parse<T> = (text: string, io: Io, options: Readonly<Record<string, unknown>>) => T | Promise<T>;

interface ParameterSpec {
  readonly describe: string;
  /**
   * The field of the contract that it fills, such as `newCustomer.email`, and whose schema checks the value. Default: the
   * field with the name of the option or argument.
   */
  readonly field?: string;
  readonly choices?: readonly string[];
  readonly pick?: Pickable;
  /**
   * Whether a name or an e-mail address may stand for the id, which is then looked up. With `orId` a text without a match is
   * sent as the id: an earlier request may have removed what it names.
   */
  readonly takesName?: boolean | 'orId';
}

export type Pickable = 'product' | 'customer' | 'key' | 'device' | 'plan' | 'token' | 'session' | 'webhook';

interface Conditional {
  /** Other options or arguments; if one of them is given, this one is unnecessary. */
  readonly neededUnless?: string | readonly string[];
}

export interface OptionSpec<T = unknown> extends ParameterSpec, Conditional {
  /** As in the help: `-P, --product <ID>`. */
  readonly flags: string;
  readonly env?: string;
  /** A `negation` is a switch that is on until `--no-…` or its variable turns it off. */
  readonly kind: 'switch' | 'negation' | 'one' | 'required' | 'many';
  /** The attribute of an option that cannot be combined with this one. */
  readonly conflicts?: string;
  /** The value that a switch puts into its field; default true. */
  readonly means?: unknown;
  /** Whether one text may give several values with commas between them; no value contains a comma. */
  readonly takesList?: boolean;
  readonly parse: Parse<unknown>;
  readonly value?: T;
}

export interface ArgumentSpec<T = unknown> extends ParameterSpec, Conditional {
  readonly usage: string;
  readonly parse: Parse<unknown>;
  /** Whether its text is a secret, which must not be repeated where it may be logged. */
  readonly secret?: boolean;
  readonly value?: T;
}

export type Specs<S> = Readonly<Record<string, S>>;

export type ValuesOf<S> = { readonly [K in keyof S]: S[K] extends { readonly value?: infer T } ? T : never };

export interface CommandSpec<A, O> {
  readonly about: string;
  /** The operation of the contract that the command makes available: `keys.create`. */
  readonly operation?: string;
  /** Scopes that it may need besides the scope of its operation, each with its purpose. */
  readonly alsoNeeds?: Readonly<Partial<Record<Scope, string>>>;
  readonly arguments?: A;
  readonly options?: O;
  /** Whether it works without the service, on a device. */
  readonly isLocal?: boolean;
  readonly terms?: { readonly title: string; readonly rows: readonly (readonly [term: string, meaning: string])[] };
  /** The fields of its result, which `--fields` may name; of a value or a document the fields of `data`. */
  readonly fields?: readonly (Field | string)[];
  /** Whether it prints rows until it is stopped; `-o` does not take such a stream. */
  readonly streams?: boolean;
  /** Whether the command itself decides about a file of `-o` that exists. */
  readonly ownsOutput?: (options: Written['options']) => boolean;
  readonly examples: readonly (readonly [line: string, does: string])[];
  run(values: ValuesOf<A> & ValuesOf<O>, context: CommandContext): Promise<CommandResult>;
}

export type Declaration = Required<Pick<AnySpec, 'arguments' | 'options'>> &
  Omit<AnySpec, 'arguments' | 'options' | 'fields'> & { readonly fields: readonly Field[] };

type AnySpec = CommandSpec<Specs<ArgumentSpec>, Specs<OptionSpec>>;

export type Command = Declaration & { readonly path: string };

/** A command before its file is loaded, with what the help of its parents shows. */
export interface CommandEntry {
  readonly path: string;
  readonly summary: string;
  readonly alias?: string;
  /** Words of other tools that are understood too; no help shows them. */
  readonly synonyms: readonly string[];
  /** One word in place of the whole path: `login`. */
  readonly shortcut?: string;
  readonly load: () => Promise<Command>;
}

export interface ParsedCommand {
  readonly kind: 'command';
  readonly command: Command;
  readonly written: Written;
  readonly globals: GlobalFlags;
}

export interface Written {
  readonly arguments: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  /** The options whose values come from a variable or the configuration. */
  readonly fromEnvironment: readonly string[];
}

/** Declares a command; the types of its values follow from its arguments and options. */
export function command<A extends Specs<ArgumentSpec> = None, O extends Specs<OptionSpec> = None>(
  spec: CommandSpec<A, O>,
): Declaration {
  const fields = (spec.fields ?? []).map((field) => (typeof field === 'string' ? { name: field } : field));
  return { arguments: {}, options: {}, ...spec, fields };
}

export type None = Record<never, never>;

type ParameterOptions = Omit<ParameterSpec, 'describe'> &
  Conditional &
  Pick<OptionSpec, 'env' | 'takesList' | 'conflicts'> &
  Pick<ArgumentSpec, 'secret'> & { readonly parse?: Parse<unknown> };

/** The type of one value: what `parse` returns, else the choices, else text. */
type ValueOf<M> = M extends (...text: never[]) => infer T
  ? Awaited<T>
  : M extends { readonly parse: infer P }
    ? ValueOf<P>
    : M extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : string;

/** The type of a value that is undefined where another option makes it unnecessary. */
type ValueUnless<M> = M extends { readonly neededUnless: unknown } ? ValueOf<M> | undefined : ValueOf<M>;

const asText = (text: string): string => text;

const optionsOf = (options: ParameterOptions | Parse<unknown> = {}): ParameterOptions =>
  typeof options === 'function' ? { parse: options } : options;

export function flag(
  flags: string,
  describe: string,
  options: Pick<OptionSpec, 'field' | 'means'> = {},
): OptionSpec<boolean> {
  return { flags, describe, kind: 'switch', parse: asText, ...options };
}

export function negation(flags: `--no-${string}`, describe: string, options: { env: string }): OptionSpec<boolean> {
  return { flags, describe, kind: 'negation', parse: asText, ...options };
}

export function option<const M extends ParameterOptions | Parse<unknown> = None>(
  flags: string,
  describe: string,
  options?: M,
): OptionSpec<ValueOf<M> | undefined> {
  return { flags, describe, kind: 'one', parse: asText, ...optionsOf(options) };
}

export function required<const M extends ParameterOptions | Parse<unknown> = None>(
  flags: string,
  describe: string,
  options?: M,
): OptionSpec<ValueUnless<M>> {
  return { flags, describe, kind: 'required', parse: asText, ...optionsOf(options) };
}

/** An option that may be given several times, with choices also as `a,b`; undefined when it is not given. */
export function many<const M extends ParameterOptions | Parse<unknown> = None>(
  flags: string,
  describe: string,
  options?: M,
): OptionSpec<ValueOf<M>[] | undefined> {
  const { choices, ...rest } = optionsOf(options);
  const takesList = choices !== undefined;
  return { flags, describe, kind: 'many', parse: asText, takesList, ...(choices && { choices }), ...rest };
}

/** `<ID...>` takes one or more values, `[TOPIC...]` any number, `[NAME]` none or one. */
type ArgumentValue<Usage> = Usage extends `${string}...${string}`
  ? string[]
  : Usage extends `[${string}`
    ? string | undefined
    : string;

export function argument<const Usage extends string>(
  usage: Usage,
  describe: string,
  options: ParameterOptions = {},
): ArgumentSpec<ArgumentValue<Usage>> {
  return { usage, describe, parse: asText, ...options };
}

/** `-P, --product <ID>` → `--product`. */
export const longFlag = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? flags;

export function describeOption({ describe, choices, env }: Pick<OptionSpec, 'describe' | 'choices' | 'env'>): string {
  const listed = choices ? `${describe}: ${choices.join(', ')}` : describe;
  return env ? `${listed} (${env})` : listed;
}

const productId = { env: 'LKM_PRODUCT', field: 'productId' } as const;

export const productOption = (describe: string): OptionSpec<string | undefined> =>
  option('-P, --product <ID>', describe, productId);

export const productFilter = productOption('only this product, by its id or name');

export const productNeeded = required('-P, --product <ID>', 'the product, by its id or name', {
  ...productId,
  pick: 'product',
});

/** The product of a new key; each row of a file may name its own. */
export const productUnlessFile = required('-P, --product <ID>', 'the product, by its id or name', {
  ...productId,
  pick: 'product',
  neededUnless: 'file',
});

/** The product of the KEY argument; `CommandContext.productOf` looks it up unless given. */
export const productOfKey = productOption('its product; found by the key unless given');

export const productOfKeyOrRows = productOption(
  'its product; found by the key unless given. With -f: the product of rows without one',
);

export const productOfRows = productOption('the product of rows without one');

export const change = {
  idempotencyKey: option('--idempotency-key <K>', 'repeat an earlier request instead of making a new one'),
  dryRun: flag('-n, --dry-run', 'show the request and send nothing'),
};

export const yes = flag('-y, --yes', 'do not ask');
