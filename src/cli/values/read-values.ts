import { type ArgumentSpec, type Command, longFlag, type OptionSpec, type Pickable, type Written } from '../command.ts';
import { checkedAs } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { type Hint, UsageError } from '../failure/errors.ts';
import { withoutBrackets } from '../help/section.ts';
import { moment } from '../output/words.ts';
import { resolveObjects } from './resolve-objects.ts';

/** `pickedWords` would have given the values that were picked on the terminal. */
export interface ReadValues {
  readonly values: Readonly<Record<string, unknown>>;
  readonly pickedWords: readonly string[];
}

/** Reads and checks the values of a command. Throws `UsageError` that names the option. */
export async function readValues(command: Command, written: Written, context: CommandContext): Promise<ReadValues> {
  const { io, settings } = context;
  const values: Record<string, unknown> = {};
  const pickedWords: string[] = [];

  /** Asks for a value on the terminal; undefined if nobody can be asked or nothing can be picked. */
  async function pickValue(what: Pickable | undefined): Promise<string | undefined> {
    if (what === undefined || !settings.interactive) return undefined;
    const { pickObject } = await import('../prompts/pickers.ts');
    return (await pickObject(what, context, await resolveObjects(command, values, context))) ?? undefined;
  }

  async function readOption(name: string, spec: OptionSpec): Promise<unknown> {
    const { kind } = spec;
    const given = written.options[name];
    if (kind === 'switch') return given === true;
    if (kind === 'negation') return given !== false;
    const flag = longFlag(spec.flags);
    const isOpen = given === undefined && isNeeded(spec, written);
    const picked = isOpen ? await pickValue(spec.pick) : undefined;
    if (picked !== undefined) pickedWords.push(flag, picked);
    else if (isOpen && kind === 'required') throw missingOptions([spec]);
    const text = given ?? picked;
    if (text === undefined) return undefined;
    const where = written.fromEnvironment.includes(name) ? (spec.env ?? flag) : flag;
    const parse = async (one: string) => {
      try {
        const value = await spec.parse(one, io, {});
        await sayReading(where, one, value);
        return value;
      } catch (error) {
        return checkedAs(where, () => {
          throw error;
        });
      }
    };
    return typeof text === 'object' ? Promise.all(text.map(parse)) : parse(String(text));
  }

  /** Reports the instant of a date that is not written in ISO 8601. */
  async function sayReading(where: string, text: string, value: unknown): Promise<void> {
    if (typeof value !== 'string' || !/^\d{4}-.*T.*Z$/.test(value) || /^(\d{4}-|\d+[a-z]|P)/.test(text)) return;
    await context.say({ tone: 'hint', text: `${where}: '${text}' is ${moment(value)}` });
  }

  async function readArgument(name: string, spec: ArgumentSpec): Promise<unknown> {
    const given = written.arguments[name];
    const isMissing = given === undefined || (typeof given === 'object' && given.length === 0);
    const isAsked =
      isMissing && (spec.neededUnless === undefined ? spec.usage.startsWith('<') : isNeeded(spec, written));
    const picked = isAsked ? await pickValue(spec.pick) : undefined;
    if (isAsked && picked === undefined) throw missingArgument(spec, command);
    if (picked !== undefined) pickedWords.push(picked);
    const text = picked ?? given;
    if (text === undefined) return undefined;
    if (isBlank(text)) throw emptyValue(nameOf(spec.usage));
    const parse = (one: string) => spec.parse(one, io, values);
    const isSeveral = spec.usage.includes('...') || typeof text === 'object';
    // A file may contain several values.
    return isSeveral ? (await Promise.all([text].flat().map(parse))).flat() : parse(text);
  }

  const options = Object.entries(command.options);
  for (const [name, { flags }] of options) if (isBlank(written.options[name])) throw emptyValue(longFlag(flags));
  const missing = options.flatMap(([name, spec]) => {
    const isGiven = written.options[name] !== undefined;
    const isPicked = spec.pick !== undefined && settings.interactive;
    return spec.kind === 'required' && isNeeded(spec, written) && !isGiven && !isPicked ? [spec] : [];
  });
  if (missing.length > 0) throw missingOptions(missing);
  // Order of picking: an argument fits the options, and a device fits the arguments.
  for (const [name, spec] of options) if (spec.pick !== 'device') values[name] = await readOption(name, spec);
  for (const [name, spec] of Object.entries(command.arguments)) values[name] = await readArgument(name, spec);
  for (const [name, spec] of options) if (spec.pick === 'device') values[name] = await readOption(name, spec);
  return { values, pickedWords };
}

/** Whether a value must be given or picked. */
const isNeeded = (spec: OptionSpec | ArgumentSpec, { options, arguments: positional }: Written): boolean =>
  spec.neededUnless === undefined
    ? 'kind' in spec && spec.kind === 'required'
    : [spec.neededUnless].flat().every((other) => options[other] === undefined && positional[other] === undefined);

const isBlank = (text: string | boolean | readonly string[] | undefined): boolean =>
  [text].flat().some((one) => typeof one === 'string' && one.trim() === '');

const emptyValue = (name: string): UsageError =>
  new UsageError(`${name} is empty: the variable it comes from is not set`);

const nameOf = (usage: string): string => withoutBrackets(usage).replaceAll(/[[\].]/g, '');

function missingArgument({ usage, choices }: ArgumentSpec, { path }: Command): UsageError {
  const name = nameOf(usage);
  const list: Hint[] = choices ? [['One of:', choices.join(', ')]] : [];
  return new UsageError(`missing required argument '${name}'`, [...list, ['See:', `lkm ${path} --help`]]);
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
