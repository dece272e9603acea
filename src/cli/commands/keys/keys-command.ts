import type { Client } from '../../../client/client.ts';
import type { RowChange, RowValues } from '../../bulk/operations/change-keys.ts';
import { bulkOptions, isBulk, orInBulk, restartOption } from '../../bulk/options.ts';
import { type CommandSpec, change, command, type Declaration, type None, type Parameters, yes } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { changeKeys, type Description } from '../change-each.ts';
import {
  type AnswerOf,
  type ChangeValues,
  changeBy,
  endpointOf,
  type OperationName,
  resultOfChange,
  withIdempotencyKey,
  withProduct,
} from '../forms.ts';
import type { Outcome } from '../results.ts';

interface KeysSpec<Operation, A, O> extends Omit<CommandSpec<A, O>, 'run' | 'operation'> {
  readonly operation: Operation;
  /** The participle: `blocked`. */
  readonly done: string;
  /** How the rows of a file are changed. */
  readonly rows: RowChange;
  /** Describes each key before a change that cannot be undone, which is then confirmed. */
  describe?(client: Client, key: KeyAddress): Promise<Description>;
  /** Finds keys by other values than the KEY argument; maps them to their products. */
  findKeys?(values: ChangeValues<A, O>, context: CommandContext): Promise<ReadonlyMap<string, string>>;
  /** The result for a single key. Without it, one key is reported as several are. */
  outcome?(answer: AnswerOf<Operation>, values: ChangeValues<A, O>, context: CommandContext): Outcome;
}

export interface KeyAddress {
  readonly licenseKey: string;
  readonly productId: string | undefined;
}

/** A command that makes the same change of one key, of several keys, or with `-f` of the key in each row of a file. */
export function keysCommand<
  const Operation extends OperationName,
  A extends Parameters = None,
  O extends Parameters = None,
>({ done, rows, describe, findKeys, outcome, ...spec }: KeysSpec<Operation, A, O>): Declaration {
  const ofFile: Parameters = { ...bulkOptions, ...(rows.repeatsSafely ? {} : { restart: restartOption }) };
  const declared = command<A, O & typeof change>({
    ...spec,
    options: { ...spec.options, ...(describe && { yes }), ...ofFile, ...change } as O & typeof change,
    ...orInBulk(withIdempotencyKey(spec.fields)),
    async run(values, context) {
      const { checkInput, inputOf } = await import('../../values/check-fields.ts');
      const { licenseKey: given = [], ...input } = inputOf(declared, values);
      const asks = describe !== undefined && context.written.yes !== true;
      const found = (await findKeys?.(values, context)) ?? new Map<string, string>();
      if (isBulk(context.written)) {
        const { changeKeysInBulk } = await import('../../bulk/operations/change-keys.ts');
        const change = { operation: spec.operation, done, ...rows };
        return changeKeysInBulk(context, change, values as RowValues, { input, asks });
      }
      const keys = [...[given].flat().map(String), ...found.keys()];
      checkInput(declared, { ...input, licenseKey: keys[0] });
      const inputFor = (licenseKey: string) =>
        withProduct({ productId: found.get(licenseKey), ...input, licenseKey }, context);
      const [key = '', ...others] = keys;
      if (outcome !== undefined && others.length === 0) {
        const changed = await changeBy(spec.operation, await inputFor(key), context);
        return resultOfChange(changed, outcome(changed.answer, values, context));
      }
      const endpoint = await endpointOf(spec.operation);
      const productId = input.productId as string | undefined;
      return changeKeys(context, done, keys, {
        changeOf: async (licenseKey) => ({ endpoint, input: await inputFor(licenseKey) }),
        ...(asks && { describe: (client, licenseKey) => describe(client, { productId, licenseKey }) }),
      });
    },
  });
  return declared;
}
