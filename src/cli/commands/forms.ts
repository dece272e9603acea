import type { Client } from '../../client/client.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import {
  type ArgumentSpec,
  argument,
  type CommandSpec,
  change,
  command,
  type Declaration,
  type None,
  type OptionSpec,
  option,
  type Specs,
  type ValuesOf,
  yes,
} from '../command.ts';
import type { CommandContext } from '../context.ts';
import type { CommandResult, Field } from '../output/result.ts';
import { doneNote } from '../output/terminal.ts';
import { confirm } from '../prompts/questions.ts';
import { placeOf } from '../request/target.ts';
import { parseInstant } from '../values/instant.ts';
import { parsePositive } from '../values/scalars.ts';
import type { Fields, Outcome } from './results.ts';
import { changeKeys } from './several.ts';

type Arguments = Specs<ArgumentSpec>;
type Options = Specs<OptionSpec>;

interface ReadSpec<A, O> extends Omit<CommandSpec<A, O>, 'run'> {
  read(client: Client, values: ValuesOf<A> & ValuesOf<O>, context: CommandContext): Promise<CommandResult>;
}

/** A command that shows what the service has. */
export function readCommand<A extends Arguments = None, O extends Options = None>({
  read,
  ...spec
}: ReadSpec<A, O>): Declaration {
  return command<A, O>({
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

interface ShowSpec<Operation, A, O> extends Omit<CommandSpec<A, O>, 'run' | 'operation'> {
  readonly operation: Operation;
  show(answer: AnswerOf<Operation>, values: ValuesOf<A> & ValuesOf<O>, context: CommandContext): CommandResult;
}

/** The same for what one request shows, which is what the values of the command are to the contract. */
export function showCommand<
  const Operation extends OperationName,
  A extends Arguments = None,
  O extends Options = None,
>({ show, ...spec }: ShowSpec<Operation, A, O>): Declaration {
  const declared = readCommand<A, O>({
    ...spec,
    async read(client, values, context) {
      const { inputOf } = await import('../values/check-fields.ts');
      const answer = await operationOf(client, spec.operation)(inputOf(declared, values));
      return show(answer as AnswerOf<Operation>, values, context);
    },
  });
  return declared;
}

interface ChangeSpec<Operation, A, O> extends Omit<CommandSpec<A, O>, 'run' | 'operation'> {
  readonly operation: Operation;
  /** Refuses what does not go together, and returns what no value gives as it is. */
  prepare?(values: ChangeValues<A, O>, context: CommandContext): Fields | undefined | Promise<Fields | undefined>;
  /** What is asked first, of a change that cannot be taken back, unless `--yes` answers it; null for nothing. */
  asks?(values: ChangeValues<A, O>, context: CommandContext): Question | null;
  /** Of a command that takes several keys, or none: what has been done to each. */
  readonly done?: string;
  /** Finds the keys where none is given. */
  findKeys?(values: ChangeValues<A, O>, context: CommandContext): Promise<readonly string[]>;
  /** Makes the change for each row of a file, where the options ask for that; `input` is what they say of all. */
  inBulk?(values: ChangeValues<A, O>, context: CommandContext, input: Fields): Promise<CommandResult>;
  /** What came of it; `sent` is the request. */
  outcome(
    answer: AnswerOf<Operation>,
    values: ChangeValues<A, O>,
    context: CommandContext,
    sent: Fields,
  ): Outcome | Promise<Outcome>;
}

/** The values of a change, whose command has options that all changes have. */
type ChangeValues<A, O> = ValuesOf<A> & ValuesOf<O> & ValuesOf<typeof change>;

interface Question {
  readonly question: string;
  /** What the error calls it when there is no terminal to ask on: `deleting cus_…`. */
  readonly action: string;
  /** What is shown above the question. */
  about(client: Client): Promise<readonly string[]>;
}

/**
 * A command that makes one change under one idempotency key. Its request is what its values are to the contract, with what
 * `prepare` returns; the product of a key is found unless given.
 */
export function changeCommand<
  const Operation extends OperationName,
  A extends Arguments = None,
  O extends Options = None,
>({
  prepare,
  asks,
  inBulk,
  outcome,
  done: doneToEach = '',
  findKeys,
  ...spec
}: ChangeSpec<Operation, A, O>): Declaration {
  const declared = command<A, O & typeof change>({
    ...spec,
    options: { ...spec.options, ...(asks && { yes }), ...change } as O & typeof change,
    fields: withKey(spec.fields ?? []),
    async run(values, context) {
      const { checkInput, inputOf } = await import('../values/check-fields.ts');
      const { licenseKey: given, ...rest } = inputOf(declared, values);
      const keys = [given ?? []].flat();
      const { file, count } = context.written;
      if (inBulk && (file !== undefined || count !== undefined)) return inBulk(values, context, rest);
      const [licenseKey, ...others] = keys.length > 0 ? keys : ((await findKeys?.(values, context)) ?? []);
      const input = licenseKey === undefined ? rest : { ...rest, licenseKey };
      const whole = { ...input, ...(await prepare?.(values, context)) };
      checkInput(declared, whole);
      const endpoint = await endpointOf(spec.operation);
      if (licenseKey !== undefined && others.length > 0) {
        return changeKeys(context, doneToEach, [licenseKey, ...others].map(String), async (one) => ({
          endpoint,
          input: await withProduct({ ...whole, licenseKey: one }, context),
        }));
      }
      const question = asks?.(values, context);
      if (question && context.written.yes !== true) await ask(question, context);
      const sent = await withProduct(whole, context);
      const changed = await context.change(endpoint, sent);
      const { idempotencyKey } = changed;
      const came = await outcome(changed.answer as AnswerOf<Operation>, values, context, sent);
      const { done, already, ...result } = came;
      return {
        ...result,
        ...(result.kind === 'record' && { row: { ...result.row, idempotencyKey } }),
        data: { ...result.data, idempotencyKey },
        idempotencyKey,
        notes: [...(done === undefined ? [] : [doneNote(changed, done, already)]), ...(result.notes ?? [])],
      };
    },
  });
  return declared;
}

/** The key of a change stands in the results of all; where no field says otherwise, only for those who ask. */
const withKey = (fields: readonly (Field | string)[]): readonly (Field | string)[] =>
  fields.includes('idempotencyKey') ? fields : [...fields, { name: 'idempotencyKey', shown: 'chosen' }];

async function ask({ about, ...question }: Question, context: CommandContext): Promise<void> {
  if (context.dryRun) return;
  const shown = context.settings.interactive ? await about(await context.client()) : [];
  const place = `  at ${placeOf(await context.target())}`;
  await confirm(context, { ...question, about: [...shown, place], flag: '--yes' });
}

async function withProduct(input: Fields, context: CommandContext): Promise<Fields> {
  const { licenseKey, productId } = input;
  if (typeof licenseKey !== 'string') return input;
  return { ...input, productId: await context.productOf(licenseKey, productId as string | undefined) };
}

/** The endpoint of an operation by its name. */
async function endpointOf(name: string): Promise<AnyEndpoint> {
  const { listEndpoints } = await import('../../contract/index.ts');
  const named = listEndpoints().find((one) => one.name === name);
  if (named === undefined) throw new Error(`the contract has no operation ${name}`);
  return named.endpoint;
}

/** An operation of the client by its name. */
function operationOf(client: Client, name: string): (input: Fields) => Promise<unknown> {
  const [resource = '', operation = ''] = name.split('.');
  const operations: Readonly<Record<string, Readonly<Record<string, unknown>>>> = client;
  return operations[resource]?.[operation] as ReturnType<typeof operationOf>;
}

/** The customer that a change or a list is for. */
export const customerOption = (describe: string): OptionSpec<string | undefined> =>
  option('--customer <ID|EMAIL|NAME>', describe, { field: 'customerId', takesName: true });

/** The plan of a key. */
export const planOption = (describe: string): OptionSpec<string | undefined> =>
  option('--plan <ID|NAME>', describe, { field: 'planId', takesName: true });

/** The customer that a command is about. */
export const customerArgument = argument('<ID|EMAIL|NAME>', 'the customer, by its id, e-mail address or whole name', {
  field: 'customerId',
  pick: 'customer',
  takesName: true,
});

/** How much of a list is shown. */
export const limit = option('--limit <N>', 'at most N, 1 or more', parsePositive);

/** The condition of a change: that nobody else has made another meanwhile. */
export const ifUpdatedAt = option(
  '--if-updated-at <INSTANT>',
  'only if this is still its updatedAt, as get shows it',
  parseInstant,
);
