import { z } from 'zod';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { contract } from '../../contract/index.ts';
import { METADATA_LIMITS } from '../../contract/keys/metadata.ts';
import type { ArgumentSpec, Command, OptionSpec } from '../command.ts';
import { type Hint, UsageError } from '../failure/errors.ts';
import { count, duration } from '../output/words.ts';
import { parseSeconds } from './duration.ts';
import { longFlag } from './read-values.ts';

/** Checks each value that is a field of the contract by its schema, before anything is sent. Throws `UsageError`. */
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
  const name = 'flags' in spec ? longFlag(spec.flags) : spec.usage.replaceAll(/[<>[\]]|\.{3}/g, '');
  if (spec.field === 'customerId' && typeof given === 'string' && given.includes('@')) {
    // The service would find no customer, and a list would be empty. An address stays out of logs.
    throw new UsageError(`${name} is the id of a customer, not an e-mail address`, [
      ['Its id:', 'lkm customers get ADDRESS -q'],
    ]);
  }
  const inner = unwrap(schema);
  const isEntries = (inner instanceof z.ZodRecord || inner instanceof z.ZodObject) && Array.isArray(given);
  // `--feature` and `--metadata` give names with values.
  if (isEntries) checkNames(name, given);
  const { error } = z.safeEncode(schema, isEntries ? Object.fromEntries(given) : given);
  if (error === undefined) return;
  const [issue] = error.issues;
  const [entry] = issue?.path ?? [];
  const hints: Hint[] = spec.field === 'productId' ? [['See them:', 'lkm products list']] : [];
  const message =
    inner instanceof z.ZodObject && entry !== undefined
      ? `${name} ${String(entry).slice(0, 40)}: ${metadataBounds}`
      : `${name} ${explainIssue(issue, spec.parse === parseSeconds ? duration : String)}`;
  throw new UsageError(message, hints, { cause: error });
}

function checkNames(option: string, entries: readonly (readonly [string, unknown])[]): void {
  const seen = new Set<string>();
  const twice = entries.find(([name]) => seen.size === seen.add(name).size);
  if (twice !== undefined) throw new UsageError(`${option} ${twice[0].slice(0, 40)} is given twice`);
}

const { nameLength, valueLength } = METADATA_LIMITS;
const metadataBounds = `a name has 1 to ${nameLength} characters and a value up to ${valueLength}, all of which print`;

/** What is wrong, in words: the schema's own for its own rules, never its library's. `write` shows a bound of a number. */
export function explainIssue(issue: z.core.$ZodIssue | undefined, write: (bound: number) => string = String): string {
  switch (issue?.code) {
    case 'custom':
      return `does not fit: ${issue.message.replace(/^(Too big|Too small|Invalid string): /, '')}`;
    case 'too_small':
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
