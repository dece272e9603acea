import { z } from 'zod';

/** A JSON object. */
export type Json = Record<string, unknown>;

/** What the document shows in place of a schema that only the server's way of checking needs. */
const shown = z.registry<{ toJson(): Json }>();

/** Makes the document show `schema` as `other`: they accept the same values, and `other` says it better. */
export function showAs<T extends z.ZodType>(schema: T, other: z.ZodType): T {
  shown.add(schema, { toJson: () => convert(other) });
  return schema;
}

/**
 * The JSON Schema (2020-12) of what is on the wire.
 *
 * @param components takes the schemas that have an id; the result refers to them
 */
export function jsonSchemaOf(schema: z.ZodType, components: Json): Json {
  const text = JSON.stringify(convert(schema)).replaceAll('#/$defs/', '#/components/schemas/');
  const { $defs, ...own } = JSON.parse(text) as Json & { $defs?: Record<string, Json> };
  for (const [id, component] of Object.entries($defs ?? {})) components[id] = without(component, ['id', '$id']);
  return own;
}

function convert(schema: z.ZodType): Json {
  const converted = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const other = shown.get(zodSchema);
      if (other !== undefined) replace(jsonSchema, other.toJson());
      // zod calls the type of a literal number a number.
      if (Number.isInteger(jsonSchema.const)) jsonSchema.type = 'integer';
    },
  });
  return without(converted, ['$schema']);
}

/** Replaces the members of `target`, but not what is said about it. */
function replace(target: Json, members: Json): void {
  const { description, examples } = target;
  for (const name of Object.keys(target)) delete target[name];
  Object.assign(target, members, description && { description }, examples && { examples });
}

const without = (object: Json, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
