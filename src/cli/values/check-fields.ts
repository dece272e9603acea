import { z } from 'zod';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { contract } from '../../contract/index.ts';
import { METADATA_LIMITS } from '../../contract/keys/metadata.ts';
import type { ArgumentSpec, Command, OptionSpec } from '../command.ts';
import { type Hint, UsageError } from '../failure/errors.ts';
import { count, duration } from '../output/words.ts';
import { parseSeconds } from './duration.ts';
import { longFlag } from './read-values.ts';

/**
 * Checks each value that is a field of the contract by the contract's own schema, before anything is sent.
 * Throws `UsageError` and says what the option or argument needs.
 */
export function checkFields(command: Command, values: Readonly<Record<string, unknown>>): void {
  for (const [name, spec] of [...Object.entries(command.arguments), ...Object.entries(command.options)]) {
    const value = values[name];
    if (spec.field === undefined || value === undefined) continue;
    const schema = fieldSchema(command.operation ?? '', spec.field);
    const several = 'usage' in spec && Array.isArray(value) ? value : [value];
    for (const one of several) checkField(schema, spec, one);
  }
}

/** The schema of a field of an operation; throws when the contract has no such field. */
export function fieldSchema(operation: string, field: string): z.ZodType {
  const [resource = '', name = ''] = operation.split('.');
  const endpoints: Readonly<Record<string, Readonly<Record<string, AnyEndpoint>>>> = contract;
  const endpoint = endpoints[resource]?.[name];
  for (const part of [endpoint?.query, endpoint?.body]) {
    const found = field.split('.').reduce<z.ZodType | undefined>((schema, key) => shapeOf(schema)?.[key], part);
    if (found) return found;
  }
  throw new Error(`the contract has no field ${field} in ${operation}`);
}

function shapeOf(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

/** The schema of the value itself: inside of what makes it optional, and behind what counts or decodes it first. */
function unwrap(schema: unknown): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.out);
  return schema instanceof z.ZodType ? schema : undefined;
}

type Spec = ArgumentSpec | OptionSpec;

function checkField(schema: z.ZodType, spec: Spec, given: unknown): void {
  if (spec.field === 'customerId' && typeof given === 'string' && given.includes('@')) throw addressForId(spec);
  const inner = unwrap(schema);
  const isEntries = (inner instanceof z.ZodRecord || inner instanceof z.ZodObject) && Array.isArray(given);
  // `--feature` and `--metadata` give names with values.
  if (isEntries) checkNames(nameOf(spec), given);
  const value = isEntries ? Object.fromEntries(given) : given;
  const result = z.safeEncode(schema, value);
  if (result.success) return;
  const [issue] = result.error.issues;
  const { message, hints } = explain(inner, spec, value, issue);
  throw new UsageError(message, hints, { cause: result.error });
}

/** No id has an `@`; the service would find no customer, and a list would be empty. An address stays out of logs. */
const addressForId = (spec: Spec): UsageError =>
  new UsageError(`${nameOf(spec)} is the id of a customer, not an e-mail address`, [
    ['Its id:', 'lkm customers get ADDRESS -q'],
  ]);

function checkNames(option: string, entries: readonly (readonly [string, unknown])[]): void {
  const seen = new Set<string>();
  const twice = entries.find(([name]) => seen.size === seen.add(name).size);
  if (twice !== undefined) throw new UsageError(`${option} ${twice[0].slice(0, 40)} is given twice`);
}

interface Explained {
  readonly message: string;
  readonly hints?: readonly Hint[];
}

function explain(
  schema: z.ZodType | undefined,
  spec: Spec,
  value: unknown,
  issue: z.core.$ZodIssue | undefined,
): Explained {
  const name = nameOf(spec);
  if (schema instanceof z.ZodEmail) return { message: `${name} is not an e-mail address` };
  if (schema instanceof z.ZodString && typeof value === 'string') return explainText(schema, name, spec, value);
  if (schema instanceof z.ZodObject) return { message: explainMetadata(name, Object(value), issue) };
  if (typeof value === 'number') return { message: explainNumber(schema, name, spec, value) };
  return { message: `${name} ${explainIssue(issue)}` };
}

const nameOf = (spec: Spec): string =>
  'flags' in spec ? longFlag(spec.flags) : spec.usage.replaceAll(/[<>[\]]|\.{3}/g, '');

function explainMetadata(name: string, metadata: object, issue: z.core.$ZodIssue | undefined): string {
  const { entries, nameLength, valueLength } = METADATA_LIMITS;
  const given = Object.keys(metadata).length;
  if (given > entries) return `${name} is given ${given} times; ${entries} entries are the most`;
  const [entry] = issue?.path ?? [];
  if (entry === undefined) return `${name} ${explainIssue(issue)}`;
  const bounds = `a name has 1 to ${nameLength} characters and a value up to ${valueLength}, all of which print`;
  return `${name} ${String(entry).slice(0, 40)}: ${bounds}`;
}

function explainText({ minLength, maxLength }: z.ZodString, name: string, spec: Spec, value: string): Explained {
  const range = `${minLength} to ${maxLength}`;
  const fits = value.length >= (minLength ?? 0) && value.length <= (maxLength ?? Number.POSITIVE_INFINITY);
  if (fits) return { message: `${name} is blank or holds characters that do not print` };
  if (spec.field === 'productId') {
    return {
      message: `${name}: '${value.slice(0, 40)}' is not a product id (prod_…, ${range} characters)`,
      hints: [['See them:', 'lkm products list']],
    };
  }
  return { message: `${name} has ${count(value.length, 'character')}; ${range} are needed` };
}

function explainNumber(schema: z.ZodType | undefined, name: string, spec: Spec, value: number): string {
  if (!(schema instanceof z.ZodNumber)) return `${name} cannot be ${value}`;
  const least = schema.minValue === 0 ? 1 : (schema.minValue ?? 0);
  const most = schema.maxValue ?? Number.MAX_SAFE_INTEGER;
  if (spec.parse === parseSeconds) {
    return `${name} is ${duration(value)}; ${duration(least)} to ${duration(most)} are allowed`;
  }
  return `${name} is ${value}; a whole number from ${least} to ${most} is needed`;
}

/** What is wrong, in words: the schema's own for its own rules, and never those of its library. */
export function explainIssue(issue: z.core.$ZodIssue | undefined): string {
  switch (issue?.code) {
    case 'custom':
      return `does not fit: ${issue.message.replace(/^(Too big|Too small|Invalid string): /, '')}`;
    case 'too_small':
      return `${issue.origin === 'string' ? 'holds a text that is too short' : 'holds too little'}: ${boundOf(issue, 'least')}`;
    case 'too_big':
      return `${issue.origin === 'string' ? 'holds a text that is too long' : 'holds too much'}: ${boundOf(issue, 'most')}`;
    case 'invalid_format':
      return 'holds a text that is blank or has characters that do not print';
    default:
      return 'has a value that the service does not take';
  }
}

type Bounded = Extract<z.core.$ZodIssue, { code: 'too_small' | 'too_big' }>;

function boundOf(issue: Bounded, side: 'least' | 'most'): string {
  const bound = Number(issue.code === 'too_small' ? issue.minimum : issue.maximum);
  if (issue.origin === 'string') return `${count(bound, 'character')} at ${side}`;
  if (issue.inclusive === false) return side === 'least' ? `more than ${bound}` : `less than ${bound}`;
  return `${bound} at ${side}`;
}
