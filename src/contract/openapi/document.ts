/** A JSON object of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** What a reference of the document stands for. */
export function resolve(value: Json, document: Json): Json {
  const { $ref } = value;
  if (typeof $ref !== 'string') return value;
  return $ref
    .split('/')
    .slice(1)
    .reduce((part, name) => objectOf(part[name.replaceAll('~1', '/').replaceAll('~0', '~')]), document);
}

/** The schemas of a body or a response, by their types of content; none without a content. */
export function contentsOf(message: unknown, document: Json): ReadonlyMap<string, Json> {
  const contents = Object.entries(objectOf(resolve(objectOf(message), document).content));
  return new Map(contents.map(([type, content]) => [type.toLowerCase(), objectOf(objectOf(content).schema)]));
}

/** The value, if it is an object; else an empty one. */
export const objectOf = (value: unknown): Json => (isObject(value) ? value : {});

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value, if it is a list; else an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
