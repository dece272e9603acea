import type { AnyEndpoint } from '../endpoint.ts';
import { type Json, type JsonSchema, jsonSchemaOf } from './json-schema.ts';

/** A request and its reply, as they are on the wire. */
export interface Example {
  readonly query: Readonly<Record<string, string>>;
  /** Undefined where the endpoint takes no such part. */
  readonly body: Json | undefined;
  readonly reply: unknown;
}

/**
 * The example of an endpoint, made from the examples of its fields: the required fields, and fields that the endpoint names.
 */
export function exampleOf({ query, body, reply, example = {}, exampleLacks = [] }: AnyEndpoint): Example {
  const components: Record<string, JsonSchema> = {};
  const fieldsOf = (schema: JsonSchema): Json => {
    const { properties = {}, required = [] } = resolve(schema, components);
    const shown = Object.entries(properties).filter(([name]) => name in example || required.includes(name));
    return Object.fromEntries(shown.map(([name, field]) => [name, example[name] ?? sampleOf(field, components)]));
  };
  const content = body && fieldsOf(jsonSchemaOf(body, components));
  // A query also takes names that no schema lists: `metadata.plan`.
  const others = Object.entries(example).filter(([name]) => !Object.hasOwn(content ?? {}, name));
  const parameters = { ...(query && fieldsOf(jsonSchemaOf(query, components))), ...Object.fromEntries(others) };
  return {
    query: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
    body: content,
    reply: without(sampleOf(jsonSchemaOf(reply.schema, components), components), exampleLacks),
  };
}

const without = (reply: unknown, names: readonly string[]): unknown =>
  names.length === 0
    ? reply
    : Object.fromEntries(Object.entries(Object(reply)).filter(([name]) => !names.includes(name)));

type Components = Readonly<Record<string, JsonSchema>>;

const resolve = (schema: JsonSchema, components: Components): JsonSchema =>
  schema.$ref === undefined ? schema : (components[schema.$ref.split('/').at(-1) ?? ''] ?? {});

/** An example value of a schema; undefined if the schema does not tell. */
export function sampleOf(reference: JsonSchema, components: Components): unknown {
  const schema = { ...resolve(reference, components), ...reference };
  const { examples, enum: values, properties, anyOf, items, minimum = 1 } = schema;
  if (examples ?? values) return (examples ?? values)?.[0];
  if (schema.const !== undefined) return schema.const;
  if (properties) {
    return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, sampleOf(member, components)]));
  }
  if (anyOf) {
    const value = anyOf[0] && sampleOf(anyOf[0], components);
    // Nullable values are null, unless they have an example or members.
    const isNull = anyOf.some(({ type }) => type === 'null') && (typeof value !== 'object' || Array.isArray(value));
    return isNull ? null : value;
  }
  if (Array.isArray(schema.type)) return null;
  if (items) return [sampleOf(items, components)].filter((item) => item !== undefined);
  return { boolean: false, integer: Math.max(1, minimum), object: {} }[String(schema.type)];
}
