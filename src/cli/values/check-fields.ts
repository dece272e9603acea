import { z } from 'zod';
import { contract } from '../../contract/index.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../failure/errors.ts';
import { withoutBrackets } from '../help/brackets.ts';
import { longFlag } from './read-values.ts';

/**
 * Holds each value that is a field of the contract against the contract's own schema, before anything is sent.
 * Throws `UsageError` and says what the field needs.
 */
export function checkFields(command: Command, values: Readonly<Record<string, unknown>>): void {
  for (const [name, spec] of [...Object.entries(command.arguments), ...Object.entries(command.options)]) {
    const value = values[name];
    if (spec.field === undefined || value === undefined) continue;
    const schema = fieldSchema(command.operation ?? '', spec.field);
    const many = 'usage' in spec && Array.isArray(value) ? value : [value];
    for (const one of many)
      checkField(schema, spec.field, one, 'flags' in spec ? longFlag(spec.flags) : withoutBrackets(spec.usage));
  }
}

/** The schema of a field of an operation; throws when the contract has no such field. */
export function fieldSchema(operation: string, field: string): z.ZodType {
  const [resource = '', name = ''] = operation.split('.');
  const endpoints: Readonly<Record<string, object>> = contract;
  const endpoint = (endpoints[resource] as Record<string, { query?: z.ZodType; body?: z.ZodType }>)?.[name];
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

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap() as z.ZodType;
  return inner;
}

function checkField(schema: z.ZodType, field: string, value: unknown, source: string): void {
  const result = z.safeEncode(schema, value);
  if (result.success) return;
  const issue = result.error.issues[0];
  throw new UsageError(explain(unwrap(schema), field, value, issue?.message ?? 'invalid'), [['Given by:', source]], {
    cause: result.error,
  });
}

function explain(schema: z.ZodType | undefined, field: string, value: unknown, message: string): string {
  if (schema instanceof z.ZodEmail) return `${field} is not an e-mail address: ${String(value)}`;
  if (schema instanceof z.ZodEnum) return `${field} is one of ${schema.options.join(', ')}, not '${String(value)}'`;
  if (schema instanceof z.ZodString && typeof value === 'string') {
    const { minLength, maxLength } = schema;
    const fits = value.length >= (minLength ?? 0) && value.length <= (maxLength ?? Number.POSITIVE_INFINITY);
    if (!fits) return `${field} has ${characters(value.length)}; ${minLength} to ${maxLength} are needed`;
    return `${field} is blank or holds characters that do not print`;
  }
  if (typeof value === 'number') return `${field} is ${value}; ${boundsOf(schema)}`;
  return `${field} does not fit: ${message}`;
}

const characters = (count: number): string => (count === 1 ? '1 character' : `${count} characters`);

function boundsOf(schema: z.ZodType | undefined): string {
  const number = schema instanceof z.ZodCodec ? (schema.out as z.ZodType) : schema;
  if (!(number instanceof z.ZodNumber)) return 'that does not fit';
  return `a whole number from ${number.minValue === 0 ? 1 : number.minValue} to ${number.maxValue} is needed`;
}
