import type { Client } from '../../client/client.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import type { RowChange, RowValues } from '../bulk/operations/changes.ts';
import { bulkOptions, isBulk, orInBulk, restartOption } from '../bulk/options.ts';
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
import { placeOf } from '../request/target.ts';
import { parseInstant } from '../values/instant.ts';
import { parsePositive } from '../values/scalars.ts';
import { changeKeys, type Description } from './change-each.ts';
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
  /** For a command on several keys: the participle, `blocked`. */
  readonly done?: string;
  /** Describes each key before a change that cannot be undone; the change is then confirmed as for several keys. */
  describe?(client: Client, key: KeyAddress): Promise<Description>;
  /** Finds the keys where none is given; maps them to their products. */
  findKeys?(values: ChangeValues<A, O>, context: CommandContext): Promise<ReadonlyMap<string, string>>;
  /** Adds `-f`, which changes the key of each row of a file. */
  readonly rows?: RowChange;
  /** Makes the change for each row of a file, if the command has options of its own for files. */
  inBulk?(values: ChangeValues<A, O>, context: CommandContext): Promise<CommandResult>;
  /** The result; `sent` is the request. Without it, one key is reported as several keys are. */
  outcome?(
    answer: AnswerOf<Operation>,
    values: ChangeValues<A, O>,
    context: CommandContext,
    sent: Fields,
  ): Outcome | Promise<Outcome>;
}

interface KeyAddress {
  readonly licenseKey: string;
  readonly productId: string | undefined;
}

type ChangeValues<A, O> = ValuesOf<A> & ValuesOf<O> & ValuesOf<typeof change>;

interface Question {
  readonly question: string;
  /** Names the action in errors: `deleting cus_…`. */
  readonly action: string;
  /** Lines above the question. */
  about(client: Client): Promise<readonly string[]>;
}

/**
 * A command that makes one change under one idempotency key, or the same change of several keys. The request consists of the
 * values of the command and of what `prepare` returns; the product of a key is looked up unless given.
 */
export function changeCommand<
  const Operation extends OperationName,
  A extends Parameters = None,
  O extends Parameters = None,
>(spec: ChangeSpec<Operation, A, O>): Declaration {
  const { prepare, asks, describe, rows, inBulk, outcome, done: doneToEach = '', findKeys, ...declaration } = spec;
  const bulk = rows && { ...bulkOptions, ...(rows.repeatsSafely ? {} : { restart: restartOption }) };
  const fields = withKey(spec.fields ?? []);
  const declared = command<A, O & typeof change>({
    ...declaration,
    options: { ...spec.options, ...((asks || describe) && { yes }), ...bulk, ...change } as O & typeof change,
    ...(rows ? orInBulk(fields) : { fields }),
    async run(values, context) {
      const { checkInput, inputOf } = await import('../values/check-fields.ts');
      const { licenseKey: given, ...rest } = inputOf(declared, values);
      const isConfirmed = context.written.yes === true;
      const asksEach = describe !== undefined && !isConfirmed;
      const prepared = { ...rest, ...(await prepare?.(values, context)) };
      if (isBulk(context.written)) {
        if (inBulk) return inBulk(values, context);
        const { changeKeysInBulk } = await import('../bulk/operations/changes.ts');
        const operation = { operation: spec.operation, done: doneToEach, ...rows };
        return changeKeysInBulk(context, operation, values as RowValues, { input: prepared, asks: asksEach });
      }
      const named = [given ?? []].flat().map(String);
      const found = named.length === 0 && findKeys ? await findKeys(values, context) : new Map<string, string>();
      const keys = [...named, ...found.keys()];
      const input = keys.length === 0 ? prepared : { ...prepared, licenseKey: keys[0] };
      checkInput(declared, input);
      const endpoint = await endpointOf(spec.operation);
      const productId = rest.productId as string | undefined;
      if (outcome === undefined || keys.length > 1) {
        return changeKeys(context, doneToEach, keys, {
          changeOf: async (licenseKey) => ({
            endpoint,
            input: await withProduct({ ...input, licenseKey }, found, context),
          }),
          ...(asksEach && { describe: (client, licenseKey) => describe(client, { productId, licenseKey }) }),
        });
      }
      const question = asks?.(values, context);
      if (question && !isConfirmed) await ask(question, context);
      const sent = await withProduct(input, found, context);
      const changed = await context.change(endpoint, sent);
      const { idempotencyKey } = changed;
      const { done, already, ...result } = await outcome(changed.answer as AnswerOf<Operation>, values, context, sent);
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

/** The fields with the idempotency key; where the command does not name it, only `--fields` shows it. */
function withKey(fields: readonly (Field | string)[]): readonly Field[] {
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

async function withProduct(
  input: Fields,
  found: ReadonlyMap<string, string>,
  context: CommandContext,
): Promise<Fields> {
  const { licenseKey } = input;
  if (typeof licenseKey !== 'string') return input;
  const known = (input.productId as string | undefined) ?? found.get(licenseKey);
  return { ...input, productId: await context.productOf(licenseKey, known) };
}

async function endpointOf(name: string): Promise<AnyEndpoint> {
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
