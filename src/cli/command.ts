import type { Scope } from '../contract/scopes.ts';
import type { CommandContext } from './context.ts';
import type { GlobalFlags } from './global-options.ts';
import type { Io } from './io.ts';
import type { CommandResult, Field } from './output/result.ts';

/** Turns the text of an option or argument into its value; throws `UsageError`. An argument sees the options. */
export type Parse<T> = (text: string, io: Io, options: Readonly<Record<string, unknown>>) => T | Promise<T>;

interface Described {
  readonly describe: string;
  /**
   * The contract's field it fills, with dots inside: `newCustomer.email`. Its schema checks the value. Unless given, it is
   * the one with the name of the option or argument, where the operation has such a field.
   */
  readonly field?: string;
  readonly choices?: readonly string[];
  readonly pick?: Pickable;
  /** Whether the name of a customer, a plan or a token, or the e-mail address, may stand for the id, which is then looked up. */
  readonly takesName?: boolean;
}

export type Pickable = 'product' | 'customer' | 'key' | 'device' | 'token' | 'session';

interface Conditional {
  /** What makes it needless: another option or argument, or one of several. */
  readonly neededUnless?: string | readonly string[];
}

export interface OptionSpec<T = unknown> extends Described, Conditional {
  /** As in the help: `-P, --product <ID>`. */
  readonly flags: string;
  readonly env?: string;
  /** A `negation` is a switch that is on until it is given, as `--no-…`, or turned off in the environment. */
  readonly kind: 'switch' | 'negation' | 'one' | 'required' | 'many';
  /** Another option, by its attribute, that it does not go with. */
  readonly conflicts?: string;
  /** What a switch puts into its field; true unless given. */
  readonly means?: unknown;
  /** Whether one text may give several values, with commas between them: none of them can contain one. */
  readonly takesList?: boolean;
  readonly parse: Parse<unknown>;
  readonly value?: T;
}

export interface ArgumentSpec<T = unknown> extends Described, Conditional {
  readonly usage: string;
  readonly parse: Parse<unknown>;
  /** Whether its text is a secret, not to be repeated where it may be logged. */
  readonly secret?: boolean;
  readonly value?: T;
}

export type Specs<S> = Readonly<Record<string, S>>;

export type ValuesOf<S> = { readonly [K in keyof S]: S[K] extends { readonly value?: infer T } ? T : never };

export interface CommandSpec<A, O> {
  readonly about: string;
  /** The operation of the contract it is the command of: `keys.create`. */
  readonly operation?: string;
  /** Scopes that it can need besides that of its operation, each with what for. */
  readonly alsoNeeds?: Readonly<Partial<Record<Scope, string>>>;
  readonly arguments?: A;
  readonly options?: O;
  /** Terms that its help explains, under a title. */
  readonly terms?: { readonly title: string; readonly rows: readonly (readonly [term: string, meaning: string])[] };
  /** The fields of its answer, which `--fields` may name; those of `data` for a value or a document. */
  readonly fields?: readonly (Field | string)[];
  /** Whether it prints rows as they come until it is stopped: a stream, which `-o` does not take. */
  readonly streams?: boolean;
  /** Whether it looks itself at what `-o` names when that is there already. */
  readonly ownsOutput?: (options: Written['options']) => boolean;
  readonly examples: readonly (readonly [line: string, does: string])[];
  run(values: ValuesOf<A> & ValuesOf<O>, context: CommandContext): Promise<CommandResult>;
}

export type Declaration = Required<Pick<AnySpec, 'arguments' | 'options'>> &
  Omit<AnySpec, 'arguments' | 'options' | 'fields'> & { readonly fields: readonly Field[] };

type AnySpec = CommandSpec<Specs<ArgumentSpec>, Specs<OptionSpec>>;

export type Command = Declaration & { readonly path: string };

/** A command in the tree, before its file is loaded: its words, and what the help of its parents shows. */
export interface CommandEntry {
  readonly path: string;
  readonly summary: string;
  readonly alias?: string;
  /** Words of other tools that are understood too, and are shown nowhere. */
  readonly synonyms: readonly string[];
  /** One word that stands for all of them: `login`. */
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
  /** The options that were not typed: their variables, or the configuration, give them. */
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

type More = Omit<Described, 'describe'> &
  Conditional &
  Pick<OptionSpec, 'env' | 'takesList' | 'conflicts'> &
  Pick<ArgumentSpec, 'secret'> & { readonly parse?: Parse<unknown> };

/** What an option gives for one text: what `parse` returns, else one of its choices, else the text. */
type ValueOf<M> = M extends (...text: never[]) => infer T
  ? Awaited<T>
  : M extends { readonly parse: infer P }
    ? ValueOf<P>
    : M extends { readonly choices: readonly (infer Choice)[] }
      ? Choice
      : string;

/** What an option gives in all, which another one may make unnecessary. */
type ValueUnless<M> = M extends { readonly neededUnless: unknown } ? ValueOf<M> | undefined : ValueOf<M>;

const asText = (text: string): string => text;

/** More of an option, or only how its text is read. */
const moreOf = (more: More | Parse<unknown> = {}): More => (typeof more === 'function' ? { parse: more } : more);

/** An option without a value. */
export function flag(
  flags: string,
  describe: string,
  more: Pick<OptionSpec, 'field' | 'means'> = {},
): OptionSpec<boolean> {
  return { flags, describe, kind: 'switch', parse: asText, ...more };
}

/** A switch that is on until it is turned off: `--no-key-check`, or `off` in its variable. */
export function negation(flags: `--no-${string}`, describe: string, more: { env: string }): OptionSpec<boolean> {
  return { flags, describe, kind: 'negation', parse: asText, ...more };
}

/** An option with a value, which may be left out. */
export function option<const M extends More | Parse<unknown> = None>(
  flags: string,
  describe: string,
  more?: M,
): OptionSpec<ValueOf<M> | undefined> {
  return { flags, describe, kind: 'one', parse: asText, ...moreOf(more) };
}

/** An option with a value that must be given. */
export function required<const M extends More | Parse<unknown> = None>(
  flags: string,
  describe: string,
  more?: M,
): OptionSpec<ValueUnless<M>> {
  return { flags, describe, kind: 'required', parse: asText, ...moreOf(more) };
}

/** An option that may be given several times, and one of a list also as `a,b`; absent when it is not given at all. */
export function many<const M extends More | Parse<unknown> = None>(
  flags: string,
  describe: string,
  more?: M,
): OptionSpec<ValueOf<M>[] | undefined> {
  const { choices, ...rest } = moreOf(more);
  const takesList = choices !== undefined;
  return { flags, describe, kind: 'many', parse: asText, takesList, ...(choices && { choices }), ...rest };
}

/** What an argument gives: `<ID...>` at least one, `[TOPIC...]` any number, `[NAME]` perhaps one. */
type ArgumentValue<Usage> = Usage extends `${string}...${string}`
  ? string[]
  : Usage extends `[${string}`
    ? string | undefined
    : string;

export function argument<const Usage extends string>(
  usage: Usage,
  describe: string,
  more: More = {},
): ArgumentSpec<ArgumentValue<Usage>> {
  return { usage, describe, parse: asText, ...more };
}

/** `-P, --product <ID>` → `--product`. */
export const longFlag = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? flags;

export function describeOption({ describe, choices, env }: Pick<OptionSpec, 'describe' | 'choices' | 'env'>): string {
  const listed = choices ? `${describe}: ${choices.join(', ')}` : describe;
  return env ? `${listed} (${env})` : listed;
}

const productId = { env: 'LKM_PRODUCT', field: 'productId' } as const;

/** The option for a product that need not be given, which `LKM_PRODUCT` may give too. */
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

/** The product of the KEY of a command; without it, `CommandContext.productOf` finds it. */
export const productOfKey = productOption('its product; found by the key unless given');

/** The same for a command that can also take a file of keys. */
export const productOfKeyOrRows = productOption(
  'its product; found by the key unless given. With -f: that of rows that name none',
);

/** The product of rows that do not name one themselves. */
export const productOfRows = productOption('the product of rows that do not name one');

export const change = {
  idempotencyKey: option('--idempotency-key <K>', 'repeat an earlier request instead of making a new one'),
  dryRun: flag('-n, --dry-run', 'show the request and send nothing'),
};

/** The option that answers a yes-or-no question beforehand. */
export const yes = flag('-y, --yes', 'do not ask');
