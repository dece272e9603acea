import { type Command, nameOf, type Parameter, type Pickable, parametersOf, type Written } from '../command.ts';
import { checkedAs } from '../config/settings.ts';
import type { CommandContext } from '../context.ts';
import { emptyValue, type Hint, UsageError } from '../failure/errors.ts';
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
  const given: Given = { ...written.arguments, ...written.options };

  async function read(name: string, spec: Parameter): Promise<unknown> {
    if (spec.kind === 'switch') return given[name] === true;
    if (spec.kind === 'negation') return given[name] !== false;
    const isOpen = isAbsent(given[name]) && isNeeded(spec, given);
    const text = (isOpen && (await pickOrRefuse(spec))) || given[name];
    return text === undefined ? undefined : parse(name, spec, text);
  }

  /** Lets a person pick a missing value; undefined for an optional value. Throws `UsageError`. */
  async function pickOrRefuse(spec: Parameter): Promise<string | undefined> {
    const picked = await pick(spec.pick);
    const isArgument = spec.kind === 'argument';
    if (picked !== null) pickedWords.push(...(isArgument ? [] : [nameOf(spec)]), picked);
    else if (isArgument) throw missingArgument(spec, command);
    else if (spec.kind === 'required') throw missingOptions([spec]);
    return picked ?? undefined;
  }

  /** Asks on the terminal; null if nobody can be asked or nothing can be picked. */
  async function pick(what: Pickable | undefined): Promise<string | null> {
    if (what === undefined || !settings.interactive) return null;
    const { pickObject } = await import('../prompts/pickers.ts');
    return pickObject(what, context, await resolveObjects(command, values, context));
  }

  async function parse(name: string, spec: Parameter, text: NonNullable<Given[string]>): Promise<unknown> {
    const isArgument = spec.kind === 'argument';
    const parseOne = (word: string) => (isArgument ? spec.parse(word, io, values) : readOption(name, spec, word));
    if (typeof text !== 'object' && !spec.usage.includes('...')) return parseOne(String(text));
    const all = await Promise.all([text].flat().map((word) => parseOne(String(word))));
    // A file may contain several values.
    return isArgument ? all.flat() : all;
  }

  /** Reads a value of an option; its errors name the option or its variable. */
  async function readOption(name: string, spec: Parameter, text: string): Promise<unknown> {
    const where = (written.fromEnvironment.includes(name) && spec.env) || nameOf(spec);
    try {
      const value = await spec.parse(text, io, {});
      await sayReading(where, text, value);
      return value;
    } catch (error) {
      return checkedAs(where, () => {
        throw error;
      });
    }
  }

  /** Reports the instant of a date that is not written in ISO 8601. */
  async function sayReading(where: string, text: string, value: unknown): Promise<void> {
    if (typeof value !== 'string' || !/^\d{4}-.*T.*Z$/.test(value) || /^(\d{4}-|\d+[a-z]|P)/.test(text)) return;
    await context.say({ tone: 'hint', text: `${where}: '${text}' is ${moment(value)}` });
  }

  const all = Object.entries(parametersOf(command));
  for (const [name, spec] of all) if (isBlank(given[name])) throw emptyValue(nameOf(spec));
  const missing = all.flatMap(([name, spec]) => {
    const isPicked = spec.pick !== undefined && settings.interactive;
    return spec.kind === 'required' && isNeeded(spec, given) && isAbsent(given[name]) && !isPicked ? [spec] : [];
  });
  if (missing.length > 0) throw missingOptions(missing);
  // An argument is picked among objects that fit the options, and a device among the devices of the key.
  const turn = ({ kind, pick }: Parameter): number => (kind === 'argument' ? 1 : pick === 'device' ? 2 : 0);
  for (const [name, spec] of all.toSorted(([, a], [, b]) => turn(a) - turn(b))) values[name] = await read(name, spec);
  return { values, pickedWords };
}

type Given = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

const isAbsent = (text: Given[string]): boolean =>
  text === undefined || (typeof text === 'object' && text.length === 0);

/** Whether a value must be given or picked. */
const isNeeded = ({ neededUnless, kind, usage }: Parameter, given: Given): boolean =>
  neededUnless === undefined
    ? kind === 'required' || (kind === 'argument' && usage.startsWith('<'))
    : [neededUnless].flat().every((other) => given[other] === undefined);

const isBlank = (text: Given[string]): boolean =>
  [text].flat().some((one) => typeof one === 'string' && one.trim() === '');

function missingArgument(spec: Parameter, { path }: Command): UsageError {
  const list: Hint[] = spec.choices ? [['One of:', spec.choices.join(', ')]] : [];
  return new UsageError(`missing required argument '${nameOf(spec)}'`, [...list, ['See:', `lkm ${path} --help`]]);
}

function missingOptions(specs: readonly Parameter[]): UsageError {
  const names = specs.map(nameOf);
  const hints = specs.flatMap(({ usage, choices, env }): Hint[] => [
    ['Give it:', withoutBrackets(usage)],
    ...(choices ? [['One of:', choices.join(', ')] as const] : []),
    ...(env ? [['Or set:', `export ${env}=…`] as const] : []),
  ]);
  return new UsageError(`${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} required`, hints);
}
