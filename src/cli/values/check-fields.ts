import { z } from 'zod';
import { InputError } from '../../client/errors.ts';
import { encodeInput } from '../../client/request.ts';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { contract } from '../../contract/index.ts';
import { METADATA_LIMITS } from '../../contract/keys/metadata.ts';
import { type Command, type Declaration, nameOf, type Parameter, parametersOf } from '../command.ts';
import { explainInput, type Hint, UsageError } from '../failure/errors.ts';
import { count, duration } from '../output/words.ts';
import { parseSeconds } from './duration.ts';

type Values = Readonly<Record<string, unknown>>;

/** Checks the values against the schemas of their fields. Throws `UsageError` that names the option. */
export function checkFields(command: Command, values: Values): void {
  for (const [name, spec] of Object.entries(parametersOf(command))) {
    const field = fieldOf(command, name, spec);
    const value = values[name];
    if (field === undefined || value === undefined || spec.kind === 'switch') continue;
    const schema = fieldSchema(command.operation ?? '', field);
    const several = spec.kind === 'argument' && Array.isArray(value) ? value : [value];
    for (const one of several) checkField(schema, spec, field, one);
  }
}

/**
 * The request of a command: its values by the fields of the contract. Entries of `--metadata` and the like become members.
 * Throws `UsageError` if two values fill one field.
 */
export function inputOf(command: Declaration, values: Values): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  const filledBy = new Map<string, string>();
  const fill = (path: readonly string[], value: unknown, flag: string): void => {
    const before = filledBy.get(path.join('.'));
    if (before === flag) throw new UsageError(`${flag} ${path.at(-1)?.slice(0, 40)} is given twice`);
    if (before !== undefined) throw new UsageError(`${before} and ${flag} contradict each other; give one of them`);
    filledBy.set(path.join('.'), flag);
    let holder = input;
    for (const name of path.slice(0, -1)) holder = holder[name] = { ...Object(holder[name]) };
    holder[path.at(-1) ?? ''] = value;
  };
  for (const [name, spec] of Object.entries(parametersOf(command))) {
    const path = fieldOf(command, name, spec)?.split('.');
    const value = spec.kind === 'switch' ? meaningOf(spec, values[name]) : values[name];
    if (path === undefined || value === undefined) continue;
    if (isEntries(fieldSchema(command.operation ?? '', path.join('.')), value)) {
      for (const [member, one] of value) fill([...path, member], one, nameOf(spec));
    } else {
      fill(path, value, nameOf(spec));
    }
  }
  return input;
}

/** Encodes fields for JSON. A value that the contract refuses stays as it is; its rows are checked later. */
export const encodeFields = (operation: string, input: Values): Values =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      z.safeEncode(fieldSchema(operation, name), value).data ?? value,
    ]),
  );

/** Checks the whole request. Throws `UsageError` that names the options. */
export function checkInput(command: Declaration, input: Values): void {
  const endpoint = endpointOf(command.operation ?? '');
  try {
    // The product of a key may be looked up later.
    if (endpoint) encodeInput(endpoint, 'licenseKey' in input ? { productId: '0'.repeat(22), ...input } : input);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const message = explainInput(error);
    // The message would list the many fields that a change may have.
    if (/^one of .+, .+ is required$/.test(message)) throw nothingToChange(command, error);
    throw new UsageError(inOptions(message, command), [], { cause: error });
  }
}

/** Names an option of the first example. */
function nothingToChange({ examples: [first] }: Declaration, cause: Error): UsageError {
  const [example = ''] = first ?? [];
  const [option = ''] = /--[\w-]+( ("[^"]*"|[^\s"-]\S*))?/.exec(example) ?? [];
  const [path = ''] = /^lkm \S+ \S+/.exec(example) ?? [];
  return new UsageError(`name what to change, such as ${option}`, [['All options:', `${path} --help`]], { cause });
}

/** Replaces the fields in a message of the contract by the options. */
function inOptions(text: string, command: Declaration): string {
  const filling = Object.entries(parametersOf(command)).flatMap(([name, spec]) => {
    const field = fieldOf(command, name, spec);
    return field === undefined ? [] : [[field, nameOf(spec)] as const];
  });
  const outer = filling.map(([field, flag]) => [field.replace(/\..*/, ''), flag] as const);
  const flags = new Map([...filling, ...outer].reverse());
  return text.replaceAll(/[a-z][\w.]*\w/gi, (word) => flags.get(word) ?? word);
}

const meaningOf = (spec: Parameter, isOn: unknown): unknown =>
  isOn === true ? ('means' in spec ? spec.means : true) : undefined;

/** The field that a value fills. `limit` is no field: it limits the output. */
export function fieldOf(
  { operation = '' }: Pick<Declaration, 'operation'>,
  name: string,
  { field }: Pick<Parameter, 'field'>,
) {
  return field ?? (name !== 'limit' && findSchema(operation, name) ? name : undefined);
}

/** Throws an `Error` if the contract has no such field. */
export function fieldSchema(operation: string, field: string): z.ZodType {
  const found = findSchema(operation, field);
  if (found) return found;
  throw new Error(`the contract has no field ${field} in ${operation}`);
}

function findSchema(operation: string, field: string): z.ZodType | undefined {
  const endpoint = endpointOf(operation);
  const parts = [endpoint?.query, endpoint?.body].map((part) =>
    field.split('.').reduce<z.ZodType | undefined>((schema, key) => shapeOf(schema)?.[key], part),
  );
  return parts.find((found) => found !== undefined);
}

function endpointOf(operation: string): AnyEndpoint | undefined {
  const [resource = '', name = ''] = operation.split('.');
  const endpoints: Readonly<Record<string, Readonly<Record<string, AnyEndpoint>>>> = contract;
  return endpoints[resource]?.[name];
}

function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

/** The schema inside optional, nullable and codec. */
function unwrap(schema: unknown): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.out);
  return schema instanceof z.ZodType ? schema : undefined;
}

function isEntries(schema: z.ZodType, value: unknown): value is readonly (readonly [string, unknown])[] {
  const inner = unwrap(schema);
  return (inner instanceof z.ZodRecord || inner instanceof z.ZodObject) && Array.isArray(value);
}

function checkField(schema: z.ZodType, spec: Parameter, field: string, given: unknown): void {
  const name = nameOf(spec);
  const { error } = z.safeEncode(schema, isEntries(schema, given) ? Object.fromEntries(given) : given);
  if (error === undefined) return;
  const [issue] = error.issues;
  const [entry] = issue?.path ?? [];
  const hints: Hint[] = field === 'productId' ? [['See them:', 'lkm products list']] : [];
  const message =
    unwrap(schema) instanceof z.ZodObject && entry !== undefined
      ? `${name} ${String(entry).slice(0, 40)}: ${metadataBounds}`
      : `${name} ${explainIssue(issue, spec.parse === parseSeconds ? duration : String)}`;
  throw new UsageError(message, hints, { cause: error });
}

const { nameLength, depth } = METADATA_LIMITS;
const metadataBounds = `a name has 1 to ${nameLength} characters, and a value up to ${depth} levels of JSON, whose texts print`;

/** Describes an issue by the contract's own messages, never by zod's. `write` shows a bound. */
export function explainIssue(issue: z.core.$ZodIssue | undefined, write: (bound: number) => string = String): string {
  switch (issue?.code) {
    case 'custom':
      return `does not fit: ${issue.message.replace(/^(Too big|Too small|Invalid string): /, '')}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'is empty';
      return issue.origin === 'string'
        ? `is shorter than ${count(Number(issue.minimum), 'character')}`
        : `is less than ${write(Number(issue.minimum))}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `is longer than ${count(Number(issue.maximum), 'character')}`
        : `is more than ${write(Number(issue.maximum))}`;
    case 'invalid_format':
      return issue.format === 'email'
        ? 'is not an e-mail address'
        : 'is blank, or has characters that the service does not take';
    default:
      return 'has a value that the service does not take';
  }
}
