import type { Client } from '../../client/client.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import {
  argument,
  type CommandSpec,
  change,
  command,
  type Declaration,
  type None,
  option,
  type Parameter,
  type Parameters,
  type ValuesOf,
  yes,
} from '../command.ts';
import type { CommandContext } from '../context.ts';
import type { CommandResult, Field } from '../output/result.ts';
import { doneNote } from '../output/terminal.ts';
import { confirm } from '../prompts/questions.ts';
import type { Changed } from '../request/changes.ts';
import { placeOf } from '../request/target.ts';
import { parseInstant } from '../values/instant.ts';
import { parsePositive } from '../values/scalars.ts';
import type { Fields, Outcome } from './results.ts';

interface ReadSpec<A, O> extends Omit<CommandSpec<A, O>, 'run'> {
  read(client: Client, values: ValuesOf<A> & ValuesOf<O>, context: CommandContext): Promise<CommandResult>;
}

/** A command that reads from the service. */
export function readCommand<A extends Parameters = None, O extends Parameters = None>({
  read,
  ...spec
}: ReadSpec<A, O>): Declaration {
  return command<A, O>({
    ...spec,
    run: async (values, context) => read(await context.client(), values, context),
  });
}

/** `keys.create` and all other operations. */
export type OperationName = {
  [Resource in keyof Client]: {
    [Name in keyof Client[Resource]]: `${Resource}.${Name & string}`;
  }[keyof Client[Resource]];
}[keyof Client];

export type AnswerOf<Operation> = Operation extends `${infer Resource extends keyof Client}.${infer Name}`
  ? Client[Resource][Name & keyof Client[Resource]] extends (...input: never[]) => Promise<infer Answer>
    ? Answer
    : never
  : never;

interface ShowSpec<Operation, A, O> extends Omit<CommandSpec<A, O>, 'run' | 'operation'> {
  readonly operation: Operation;
  show(answer: AnswerOf<Operation>, values: ValuesOf<A> & ValuesOf<O>, context: CommandContext): CommandResult;
}

/** A command that shows the response to one request, whose fields are the values of the command. */
export function showCommand<
  const Operation extends OperationName,
  A extends Parameters = None,
  O extends Parameters = None,
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
  /** Refuses values that do not go together; returns fields of the request that no option fills. */
  prepare?(values: ChangeValues<A, O>, context: CommandContext): Fields | undefined | Promise<Fields | undefined>;
  /** The question before a change that cannot be taken back, unless `--yes` answers it; null for no question. */
  asks?(values: ChangeValues<A, O>, context: CommandContext): Question | null;
  /** The result; `sent` is the request. */
  outcome(
    answer: AnswerOf<Operation>,
    values: ChangeValues<A, O>,
    context: CommandContext,
    sent: Fields,
  ): Outcome | Promise<Outcome>;
}

export type ChangeValues<A, O> = ValuesOf<A> & ValuesOf<O> & ValuesOf<typeof change>;

interface Question {
  readonly question: string;
  /** Names the action in errors: `deleting cus_…`. */
  readonly action: string;
  /** Lines above the question. */
  about(client: Client): Promise<readonly string[]>;
}

/**
 * A command that makes one change under one idempotency key. The request has the values of the command and the fields that
 * `prepare` returns; the product of a key is looked up unless given.
 */
export function changeCommand<
  const Operation extends OperationName,
  A extends Parameters = None,
  O extends Parameters = None,
>({ prepare, asks, outcome, ...spec }: ChangeSpec<Operation, A, O>): Declaration {
  const declared = command<A, O & typeof change>({
    ...spec,
    options: { ...spec.options, ...(asks && { yes }), ...change } as O & typeof change,
    fields: withIdempotencyKey(spec.fields),
    async run(values, context) {
      const { checkInput, inputOf } = await import('../values/check-fields.ts');
      const input = { ...inputOf(declared, values), ...(await prepare?.(values, context)) };
      checkInput(declared, input);
      const question = asks?.(values, context);
      if (question && context.written.yes !== true) await ask(question, context);
      const sent = await withProduct(input, context);
      const changed = await changeBy(spec.operation, sent, context);
      return resultOfChange(changed, await outcome(changed.answer, values, context, sent));
    },
  });
  return declared;
}

/** Makes the change of an operation that is known by its name. */
export async function changeBy<Operation extends string>(
  operation: Operation,
  input: Fields,
  context: CommandContext,
): Promise<Changed<AnswerOf<Operation>>> {
  return (await context.change(await endpointOf(operation), input)) as Changed<AnswerOf<Operation>>;
}

/** The outcome of a change with its idempotency key. */
export function resultOfChange(changed: Changed<unknown>, { done, already, ...result }: Outcome): CommandResult {
  const { idempotencyKey } = changed;
  return {
    ...result,
    ...(result.kind === 'record' && { row: { ...result.row, idempotencyKey } }),
    data: { ...result.data, idempotencyKey },
    idempotencyKey,
    notes: [...(done === undefined ? [] : [doneNote(changed, done, already)]), ...(result.notes ?? [])],
  };
}

/** The fields with the idempotency key; where the command does not name it, only `--fields` shows it. */
export function withIdempotencyKey(fields: readonly (Field | string)[] = []): readonly Field[] {
  const named = fields.map((field) => (typeof field === 'string' ? { name: field } : field));
  const isNamed = named.some(({ name }) => name === 'idempotencyKey');
  return isNamed ? named : [...named, { name: 'idempotencyKey', shown: 'chosen' }];
}

async function ask({ about, ...question }: Question, context: CommandContext): Promise<void> {
  if (context.dryRun) return;
  const shown = context.settings.interactive ? await about(await context.client()) : [];
  const place = `  at ${placeOf(await context.target())}`;
  await confirm(context, { ...question, about: [...shown, place] });
}

/** The input with the product of its key, if it names a key. */
export async function withProduct(input: Fields, context: CommandContext): Promise<Fields> {
  const { licenseKey, productId } = input;
  if (typeof licenseKey !== 'string') return input;
  return { ...input, productId: await context.productOf(licenseKey, productId as string | undefined) };
}

export async function endpointOf(name: string): Promise<AnyEndpoint> {
  const { listEndpoints } = await import('../../contract/index.ts');
  const named = listEndpoints().find((one) => one.name === name);
  if (named === undefined) throw new Error(`the contract has no operation ${name}`);
  return named.endpoint;
}

function operationOf(client: Client, name: string): (input: Fields) => Promise<unknown> {
  const [resource = '', operation = ''] = name.split('.');
  const operations: Readonly<Record<string, Readonly<Record<string, unknown>>>> = client;
  return operations[resource]?.[operation] as ReturnType<typeof operationOf>;
}

export const customerOption = (describe: string): Parameter<string | undefined> =>
  option('--customer <ID|EMAIL|NAME>', describe, { field: 'customerId', takesName: true });

export const planOption = (describe: string): Parameter<string | undefined> =>
  option('--plan <ID|NAME>', describe, { field: 'planId', takesName: true });

export const customerArgument = argument('<ID|EMAIL|NAME>', 'the customer, by its id, e-mail address or whole name', {
  field: 'customerId',
  pick: 'customer',
  takesName: true,
});

export const limit = option('--limit <N>', 'at most N, 1 or more', parsePositive);

/** Refuses a change if somebody else changed the object meanwhile. */
export const ifUpdatedAt = option(
  '--if-updated-at <INSTANT>',
  'only if this is still its updatedAt, as get shows it',
  parseInstant,
);
