import type { Scope } from '../contract/scopes.ts';
import type { CommandContext } from './context.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import type { CommandResult, Field } from './output/result.ts';

/** Reads the text of an option or argument; throws `UsageError`. An argument sees the values of the options. */
export type Parse<T> = (text: string, io: Io, options: Readonly<Record<string, unknown>>) => T | Promise<T>;

/** An option or an argument. */
export interface Parameter<T = unknown> {
  /** As in the help: `-P, --product <ID>` of an option, `<KEY...>` of an argument. */
  readonly usage: string;
  readonly describe: string;
  /** A `negation` is a switch that is on until `--no-…` or its variable turns it off. */
  readonly kind: 'argument' | 'switch' | 'negation' | 'one' | 'required' | 'many';
  /**
   * The field of the contract that it fills, such as `newCustomer.email`, and whose schema checks the value. Default: the
   * field with the name of the option or argument.
   */
  readonly field?: string;
  readonly choices?: readonly string[];
  readonly pick?: Pickable;
  /**
   * Whether a name or an e-mail address may stand for the id, which is then looked up. With `orId` a text without a match is
   * sent as the id: an earlier request may have removed the object.
   */
  readonly takesName?: boolean | 'orId';
  /** Other options or arguments; if one of them is given, this one is unnecessary. */
  readonly neededUnless?: string | readonly string[];
  readonly env?: string;
  /** The attribute of an option that cannot be combined with this one. */
  readonly conflicts?: string;
  /** The value that a switch puts into its field; default true. */
  readonly means?: unknown;
  /** Whether one text may give several values with commas between them; no value contains a comma. */
  readonly takesList?: boolean;
  /** Whether its text is a secret, which must not be repeated where it may be logged. */
  readonly secret?: boolean;
  readonly parse: Parse<unknown>;
  readonly value?: T;
}

export type Pickable = 'product' | 'customer' | 'key' | 'device' | 'plan' | 'token' | 'session' | 'webhook';

export type Parameters = Readonly<Record<string, Parameter>>;

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

type AnySpec = CommandSpec<Parameters, Parameters>;

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
export function command<A extends Parameters = None, O extends Parameters = None>(
  spec: CommandSpec<A, O>,
): Declaration {
  const fields = (spec.fields ?? []).map((field) => (typeof field === 'string' ? { name: field } : field));
  return { arguments: {}, options: {}, ...spec, fields };
}

export type None = Record<never, never>;

/** The arguments and options of a command; no two have the same name. */
export const parametersOf = (command: Pick<Declaration, 'arguments' | 'options'>): Parameters => ({
  ...command.arguments,
  ...command.options,
});

type ParameterOptions = Partial<Omit<Parameter, 'usage' | 'describe' | 'kind' | 'value'>>;

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

const declare = (
  kind: Parameter['kind'],
  usage: string,
  describe: string,
  options: ParameterOptions | Parse<unknown> = {},
) => ({
  ...{ kind, usage, describe, parse: (text: string): string => text },
  ...(typeof options === 'function' ? { parse: options } : options),
});

export const flag = (
  usage: string,
  describe: string,
  options?: Pick<Parameter, 'field' | 'means'>,
): Parameter<boolean> => declare('switch', usage, describe, options);

export const negation = (usage: `--no-${string}`, describe: string, options: { env: string }): Parameter<boolean> =>
  declare('negation', usage, describe, options);

export const option = <const M extends ParameterOptions | Parse<unknown> = None>(
  usage: string,
  describe: string,
  options?: M,
): Parameter<ValueOf<M> | undefined> => declare('one', usage, describe, options);

export const required = <const M extends ParameterOptions | Parse<unknown> = None>(
  usage: string,
  describe: string,
  options?: M,
): Parameter<ValueUnless<M>> => declare('required', usage, describe, options);

/** An option that may be given several times, with choices also as `a,b`; undefined when it is not given. */
export function many<const M extends ParameterOptions | Parse<unknown> = None>(
  usage: string,
  describe: string,
  options?: M,
): Parameter<ValueOf<M>[] | undefined> {
  const declared = declare('many', usage, describe, options);
  return { takesList: 'choices' in declared, ...declared };
}

/** `<ID...>` takes one or more values, `[TOPIC...]` any number, `[NAME]` none or one. */
type ArgumentValue<Usage> = Usage extends `${string}...${string}`
  ? string[]
  : Usage extends `[${string}`
    ? string | undefined
    : string;

export const argument = <const Usage extends string>(
  usage: Usage,
  describe: string,
  options?: ParameterOptions,
): Parameter<ArgumentValue<Usage>> => declare('argument', usage, describe, options);

/** `-P, --product <ID>` → `--product`, `<KEY...>` → `KEY`. */
export const nameOf = ({ usage }: Pick<Parameter, 'usage'>): string =>
  /--[a-z-]+/.exec(usage)?.[0] ?? usage.replaceAll(/[<>[\]]|\.{3}/g, '');

export function describeOption({ describe, choices, env }: Pick<Parameter, 'describe' | 'choices' | 'env'>): string {
  const listed = choices ? `${describe} {${choices.join(', ')}}` : describe;
  return env ? `${listed} (${env})` : listed;
}

const productId = { env: 'LKM_PRODUCT', field: 'productId' } as const;

export const productOption = (describe: string): Parameter<string | undefined> =>
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
