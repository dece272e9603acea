import type { ArgumentSpec, Command, OptionSpec, Pickable, Written } from '../command.ts';
import { readSwitch } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { type Hint, UsageError } from '../failure/errors.ts';
import { withoutBrackets } from '../help/section.ts';
import type { Io } from '../io.ts';

/** The values of a command, and the words that would have given those that were picked on the terminal. */
export interface ReadValues {
  readonly values: Readonly<Record<string, unknown>>;
  readonly pickedWords: readonly string[];
}

/** Turns what was written into the values the command receives. Throws `UsageError` and names the option. */
export async function readValues(command: Command, written: Written, context: CommandContext): Promise<ReadValues> {
  const values: Record<string, unknown> = {};
  const pickedWords: string[] = [];

  refuseMissing(command, written, context);

  const readOne = async (name: string, declared: OptionSpec): Promise<void> => {
    const spec = asNeeded(declared, written);
    const given = written.options[name];
    const text = given ?? (await pickMissing(spec, written, context, values));
    if (text !== undefined && given === undefined) pickedWords.push(longFlag(spec.flags), String(text));
    values[name] = await readOption(spec, text, context.io);
  };

  // An argument is picked among those that fit the options, and a device among those of the argument.
  const options = Object.entries(command.options);
  for (const [name, spec] of options) if (spec.pick !== 'device') await readOne(name, spec);
  for (const [name, spec] of Object.entries(command.arguments)) {
    const given = written.arguments[name];
    const isMissing = given === undefined || given.length === 0;
    const isNeeded = spec.neededUnless === undefined ? spec.usage.startsWith('<') : !isWaived(spec, written);
    const text = isMissing && isNeeded ? await pickArgument(spec, command, context, values) : given;
    if (isMissing && typeof text === 'string') pickedWords.push(text);
    const parse = (one: string) => spec.parse(one, context.io, values);
    const isList = spec.usage.includes('...') || typeof text === 'object';
    if (text !== undefined) values[name] = await (isList ? Promise.all([text].flat().map(parse)) : parse(text));
  }
  for (const [name, spec] of options) if (spec.pick === 'device') await readOne(name, spec);
  return { values, pickedWords };
}

/** Throws `UsageError` that names all options which are required, not given, and picked nowhere. */
function refuseMissing(command: Command, written: Written, { io, settings }: CommandContext): void {
  const missing = Object.entries(command.options).flatMap(([name, declared]) => {
    const spec = asNeeded(declared, written);
    const isPicked = spec.pick !== undefined && settings.interactive;
    const isMissing = spec.kind === 'required' && written.options[name] === undefined && !io.env[spec.env ?? ''];
    return isMissing && !isPicked ? [spec] : [];
  });
  if (missing.length > 0) throw missingOptions(missing);
}

/** The option, not required where something else was given in its place. */
const asNeeded = (spec: OptionSpec, written: Written): OptionSpec =>
  isWaived(spec, written) ? { ...spec, kind: 'one' } : spec;

const isWaived = ({ neededUnless = '' }: OptionSpec | ArgumentSpec, { options }: Written): boolean =>
  options[neededUnless] !== undefined;

/** Asks for a value that is needed and given nowhere. */
async function pickMissing(
  spec: OptionSpec,
  written: Written,
  context: CommandContext,
  values: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const { kind, env, pick, neededUnless } = spec;
  const isGiven = env !== undefined && Boolean(context.io.env[env]);
  const isNeeded = kind === 'required' || (neededUnless !== undefined && !isWaived(spec, written));
  return !isNeeded || isGiven ? undefined : pickValue(pick, context, values);
}

/** The same for an argument; what was given for the options narrows the choice down. Throws `UsageError` without one. */
async function pickArgument(
  { pick, usage, choices }: ArgumentSpec,
  { path }: Command,
  context: CommandContext,
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  const text = await pickValue(pick, context, options);
  if (text !== undefined) return text;
  const name = withoutBrackets(usage).replaceAll(/[[\].]/g, '');
  throw new UsageError(`missing required argument '${name}'`, [
    ...(choices ? [['One of:', choices.join(', ')] as const] : []),
    ['See:', `lkm ${path} --help`],
  ]);
}

/** Asks for a value on the terminal; undefined where nobody can be asked, or where there is nothing to pick. */
async function pickValue(
  what: Pickable | undefined,
  context: CommandContext,
  options: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  if (what === undefined || !context.settings.interactive) return undefined;
  const { pickers } = await import('../prompts/pickers.ts');
  return (await pickers[what](context, options)) ?? undefined;
}

async function readOption(spec: OptionSpec, given: string | boolean | readonly string[] | undefined, io: Io) {
  if (spec.kind === 'switch') return given === true;
  if (spec.kind === 'negation')
    return given !== false && (!io.env[spec.env ?? ''] || readSwitch(io.env, spec.env ?? ''));
  const fromEnv = spec.env === undefined ? undefined : io.env[spec.env] || undefined;
  const text = given ?? fromEnv;
  const name = longFlag(spec.flags);
  if (text === undefined) {
    if (spec.kind !== 'required') return undefined;
    throw missingOptions([spec]);
  }
  const source = given === undefined ? spec.env : name;
  const parse = (one: string) => {
    const { choices = [one] } = spec;
    if (!choices.includes(one)) throw new UsageError(`'${one}' is not one of ${choices.join(', ')}`);
    return spec.parse(one, io, {});
  };
  try {
    if (typeof text !== 'object') return await parse(String(text));
    const texts = spec.takesList ? text.flatMap((several) => several.split(',')) : text;
    return await Promise.all(texts.map(parse));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${source}: ${error.message}`, error.hints, { cause: error });
  }
}

function missingOptions(specs: readonly OptionSpec[]): UsageError {
  const names = specs.map(({ flags }) => longFlag(flags));
  const hints = specs.flatMap(({ flags, choices, env }): Hint[] => [
    ['Give it:', withoutBrackets(flags)],
    ...(choices ? [['One of:', choices.join(', ')] as const] : []),
    ...(env ? [['Or set:', `export ${env}=…`] as const] : []),
  ]);
  return new UsageError(`${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} required`, hints);
}

/** `-P, --product <ID>` → `--product`. */
export const longFlag = (flags: string): string => /--[a-z-]+/.exec(flags)?.[0] ?? flags;
