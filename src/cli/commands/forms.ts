import type { Client } from '../../client/client.ts';
import type { CallOptions } from '../../client/options.ts';
import { ApiError } from '../../contract/errors.ts';
import {
  type ArgumentSpec,
  type CommandSpec,
  change,
  command,
  type Declaration,
  type None,
  type OptionSpec,
  option,
  type Specs,
  type ValuesOf,
} from '../command.ts';
import type { CommandContext } from '../context.ts';
import { UsageError } from '../failure/errors.ts';
import type { CommandResult, Field } from '../output/result.ts';
import { doneNote } from '../output/terminal.ts';
import { confirm } from '../prompts/questions.ts';
import { parseInstant } from '../values/instant.ts';
import { longFlag } from '../values/read-values.ts';
import { parsePositive } from '../values/scalars.ts';
import type { Fields, Outcome } from './results.ts';

type Arguments = Specs<ArgumentSpec>;
type Options = Specs<OptionSpec>;

interface ReadSpec<A, O> extends Omit<CommandSpec<A, O>, 'run'> {
  read(client: Client, values: ValuesOf<A> & ValuesOf<O>, context: CommandContext): Promise<CommandResult>;
}

/** A command that shows what the service has, once or with `--watch`. */
export function readCommand<A extends Arguments = None, O extends Options = None>({
  read,
  ...spec
}: ReadSpec<A, O>): Declaration {
  return command<A, O>({
    watchable: true,
    ...spec,
    run: async (values, context) => read(await context.client(), values, context),
  });
}

/** The operations of the contract by their names: `keys.create`. */
type OperationName = {
  [Resource in keyof Client]: {
    [Name in keyof Client[Resource]]: `${Resource}.${Name & string}`;
  }[keyof Client[Resource]];
}[keyof Client];

type AnswerOf<Operation> = Operation extends `${infer Resource extends keyof Client}.${infer Name}`
  ? Client[Resource][Name & keyof Client[Resource]] extends (...input: never[]) => Promise<infer Answer>
    ? Answer
    : never
  : never;

interface ChangeSpec<Operation, A, O> extends Omit<CommandSpec<A, O>, 'run' | 'operation'> {
  readonly operation: Operation;
  /** Whether it is refused when no option says what to change. */
  readonly isUpdate?: boolean;
  /** Refuses what does not go together, asks what has to be asked, and returns what no value gives as it is. */
  prepare?(values: ChangeValues<A, O>, context: CommandContext): Fields | undefined | Promise<Fields | undefined>;
  /** Makes the change for each row of a file, where the options ask for that. */
  inBulk?(values: ChangeValues<A, O>, context: CommandContext): Promise<CommandResult>;
  /** What came of it; `sent` is the request. */
  outcome(answer: AnswerOf<Operation>, values: ChangeValues<A, O>, context: CommandContext, sent: Fields): Outcome;
}

/** The values of a change, whose command has options that all changes have. */
type ChangeValues<A, O> = ValuesOf<A> & ValuesOf<O> & ValuesOf<typeof change>;

/**
 * A command that makes one change under one idempotency key. Its request is what the values of its arguments and options
 * are to the contract, by their `field`, with what `prepare` returns; the product of a key is found unless given.
 */
export function changeCommand<
  const Operation extends OperationName,
  A extends Arguments = None,
  O extends Options = None,
>({ isUpdate, prepare, inBulk, outcome, ...spec }: ChangeSpec<Operation, A, O>): Declaration {
  return command<A, O & typeof change>({
    ...spec,
    options: { ...spec.options, ...change } as O & typeof change,
    fields: withKey(spec.fields ?? []),
    async run(values, context) {
      const { file, count } = context.written;
      if (inBulk && (file !== undefined || count !== undefined)) return inBulk(values, context);
      const more = await prepare?.(values, context);
      const options = fieldsOf(spec.options ?? {}, values);
      if (isUpdate) refuseNothing(spec.options ?? {}, { ...options, ...more });
      const address = await withProduct({ ...fieldsOf(spec.arguments ?? {}, values), ...options }, context);
      const sent = { ...address, ...more };
      const send = (client: Client, call: CallOptions) => operationOf(client, spec.operation)(sent, call);
      const changed = await context.change(send);
      const { idempotencyKey } = changed;
      const { done, already, ...result } = outcome(changed.answer as AnswerOf<Operation>, values, context, sent);
      return {
        ...result,
        ...(result.kind === 'record' && { row: { ...result.row, idempotencyKey } }),
        data: { ...result.data, idempotencyKey },
        idempotencyKey,
        notes: [doneNote(changed, done, already), ...(result.notes ?? [])],
      };
    },
  });
}

/** The key of a change stands in the results of all; where no field says otherwise, only for those who ask. */
const withKey = (fields: readonly (Field | string)[]): readonly (Field | string)[] =>
  fields.includes('idempotencyKey') ? fields : [...fields, { name: 'idempotencyKey', shown: 'chosen' }];

/** The values that fill a field of the contract, by that field: `newCustomer.email` is one inside another. */
export function fieldsOf(specs: Arguments | Options, values: Fields): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, { field }] of Object.entries(specs)) {
    if (field === undefined || values[name] === undefined) continue;
    const [outer = '', inner] = field.split('.');
    fields[outer] = inner === undefined ? values[name] : { ...Object(fields[outer]), [inner]: values[name] };
  }
  return fields;
}

async function withProduct(input: Fields, context: CommandContext): Promise<Fields> {
  const { licenseKey, productId } = input;
  if (typeof licenseKey !== 'string') return input;
  return { ...input, productId: await context.productOf(licenseKey, productId as string | undefined) };
}

/** What is no change by itself. */
const conditions = ['productId', 'ifUpdatedAt', 'force'];

function refuseNothing(options: Options, input: Fields): void {
  const changes = Object.keys(input).filter((name) => input[name] !== undefined && !conditions.includes(name));
  if (changes.length > 0) return;
  const flags = Object.values(options).filter(({ field = '' }) => !conditions.includes(field));
  const [first, second] = flags.map((option) => longFlag(option.flags));
  throw new UsageError(`nothing to change: give ${first}, ${second} or another of its options`);
}

/** An operation of the client by its name. */
function operationOf(client: Client, name: string): (input: Fields, call: CallOptions) => Promise<unknown> {
  const [resource = '', operation = ''] = name.split('.');
  const operations: Readonly<Record<string, Readonly<Record<string, unknown>>>> = client;
  return operations[resource]?.[operation] as ReturnType<typeof operationOf>;
}

/** Which of two opposite flags was given: true for the first, false for the second. Throws `UsageError` for both. */
export function either<Name extends string>(
  flags: Readonly<Record<Name, boolean>>,
  one: Name,
  other: Name,
): boolean | undefined {
  if (flags[one] && flags[other]) throw contradiction(one, other);
  return flags[one] || flags[other] ? flags[one] : undefined;
}

/** How much of a list is shown. */
export const limit = option('--limit <N>', 'at most N, 1 or more', { parse: parsePositive });

/** The condition of a change: that nobody else has made another meanwhile. */
export const ifUpdatedAt = option('--if-updated-at <INSTANT>', 'only if this is still its updatedAt, as get shows it', {
  parse: parseInstant,
  field: 'ifUpdatedAt',
});

export const contradiction = (one: string, other: string): UsageError =>
  new UsageError(`--${one} and --${other} contradict each other; give one of them`);

/** Asks before a change that cannot be taken back, unless `--yes` has answered or nothing is sent. */
export async function confirmChange(
  yes: boolean,
  context: CommandContext,
  question: { readonly action: string; readonly question: string; about(client: Client): Promise<readonly string[]> },
): Promise<undefined> {
  if (yes || context.dryRun) return;
  const about = context.settings.interactive ? await question.about(await context.client()) : [];
  await confirm(context, { ...question, about, flag: '--yes' });
}

/** What was asked for; null where the service refuses for this reason. */
export async function unlessRefused<T>(reason: ApiError['reason'], asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.reason === reason) return null;
    throw error;
  }
}
