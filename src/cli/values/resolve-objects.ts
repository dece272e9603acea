import { isProductName } from '../../contract/limits.ts';
import { type Command, type Parameter, parametersOf } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { CommandError, NotFoundError } from '../failure/errors.ts';
import { nounOf, objects } from '../request/named-objects.ts';
import type { RunState } from '../run-state.ts';
import { END_MARK } from './license-key.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * Replaces names of products, plans, tokens and customers by their ids, and ends of keys by the keys. The command line that
 * repeats a change has the ids too, since the object may be deleted by then, and its name with it.
 */
export async function resolveObjects(
  command: Command,
  values: Values,
  context: CommandContext,
  state: Pick<RunState, 'argv'> = { argv: [] },
): Promise<Values> {
  const specs = Object.entries(parametersOf(command));
  const named = specs.filter(([name, spec]) => [values[name]].flat().some((value) => isName(spec, value)));
  if (named.length === 0) return values;
  const { findByName } = await import('../request/look-ups.ts');
  const client = await context.client();
  const resolved: Record<string, unknown> = { ...values };
  // The product first: a plan is looked up among the plans of the product.
  for (const [name, spec] of named.toSorted(([, a], [, b]) => Number(isOfProduct(b)) - Number(isOfProduct(a)))) {
    const found: unknown[] = [];
    for (const value of [values[name]].flat()) {
      const product = resolved.product as string | undefined;
      const id = isName(spec, value)
        ? await findByName(client, spec, value, product).catch(pickNear(context)).catch(orId(spec, value))
        : value;
      found.push(id);
      // A whole key stands in no command line.
      if (spec.pick !== 'key') state.argv = state.argv.map(replacing(spec, value, id));
    }
    resolved[name] = Array.isArray(values[name]) ? found : found[0];
  }
  return resolved;
}

/** Handles a failed look-up: returns the text itself where it may be the id of a removed object. */
const orId = (spec: Parameter, text: string) => (error: unknown) => {
  if (spec.takesName === 'orId' && error instanceof NotFoundError) return text;
  throw error;
};

/** Handles a failed look-up: lets a person pick the object of an unclear name. */
const pickNear =
  (context: CommandContext) =>
  async (error: unknown): Promise<string> => {
    if (!(error instanceof CommandError) || error.near.length === 0 || !context.settings.interactive) throw error;
    const { pickAmong } = await import('../prompts/pickers.ts');
    return pickAmong(`${error.message.replace(/: .*/, '')}: which is meant?`, error.near, context);
  };

/** Replaces a word where it is the value of an option or argument: after the option, or not after any. */
const replacing =
  (spec: Parameter, value: unknown, id: unknown) =>
  (word: string, at: number, words: readonly string[]): string => {
    const previous = words[at - 1] ?? '';
    const isValue = spec.kind === 'argument' ? !previous.startsWith('-') : spec.usage.split(/,? /).includes(previous);
    return isValue && word === value ? String(id) : word;
  };

const isOfProduct = ({ field = '' }: Parameter): boolean => ['productId', 'productIds'].includes(field);

/** Whether a value has to be looked up. The name of a customer may look like an id that it had elsewhere. */
function isName(spec: Parameter, value: unknown): value is string {
  if (typeof value !== 'string') return false;
  if (spec.pick === 'key') return value.startsWith(END_MARK);
  if (isOfProduct(spec)) return isProductName(value);
  return spec.takesName !== undefined && !value.startsWith(objects[nounOf(spec.field ?? '') ?? 'customer'].idPrefix);
}
