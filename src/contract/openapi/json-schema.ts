import { z } from 'zod';

/** A JSON object. */
export type Json = Record<string, unknown>;

/** The members of a JSON Schema that are used here. */
export interface JsonSchema extends Json {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

/** By a schema that the server checks with, the schema that the document shows in its place. */
const shown = z.registry<{ toJson(definitions: Record<string, Json>): Json }>();

/** Makes the document show `other` for `schema`. Both accept the same values. */
export function showAs<T extends z.ZodType>(schema: T, other: z.ZodType): T {
  shown.add(schema, { toJson: (definitions) => convert(other, definitions) });
  return schema;
}

/** The JSON Schema (2020-12) of the values on the wire. Schemas with an id go to `components` and are referred to. */
export function jsonSchemaOf(schema: z.ZodType, components: Record<string, JsonSchema>): JsonSchema {
  const definitions: Record<string, Json> = {};
  const own = inComponents(convert(schema, definitions));
  for (const [id, definition] of Object.entries(definitions)) {
    components[id] = without(inComponents(definition), ['id', '$id']);
  }
  return own;
}

/** Converts a schema; a schema with an id goes to `definitions`. */
function convert(schema: z.ZodType, definitions: Record<string, Json>): Json {
  const { $defs, ...own } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const other = shown.get(zodSchema);
      if (other !== undefined) replace(jsonSchema, other.toJson(definitions));
      // zod calls the type of a literal number a number.
      if (Number.isInteger(jsonSchema.const)) jsonSchema.type = 'integer';
    },
  });
  Object.assign(definitions, $defs);
  return without(own, ['$schema']);
}

/** Replaces the members of `target` except its description and examples. */
function replace(target: Json, members: Json): void {
  const { description, examples } = target;
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, members, description && { description }, examples && { examples });
}

/** Points references to where an OpenAPI document keeps its schemas. */
const inComponents = (schema: Json): JsonSchema =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));

const without = (object: Json, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
