/** A difference between two OpenAPI documents of the service. */
export interface ApiChange {
  /** Whether a client of the old document may fail with the new one. */
  readonly breaking: boolean;
  /** `POST /create-key`. */
  readonly operation: string;
  /** What has changed, as a sentence. */
  readonly change: string;
}

type Json = Readonly<Record<string, unknown>>;

/** Which way a value goes: what clients send may only become wider, what they get only narrower or richer. */
type Direction = 'sent' | 'received';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Schemas refer to themselves at most through this many levels. */
const MAX_DEPTH = 12;

/**
 * Compares two OpenAPI documents. A reply may gain fields, a request optional ones, and the API operations; an operation
 * or a field that is gone, a request with more limits, and a reply of another form break a client.
 */
export function compareApis(before: unknown, after: unknown): ApiChange[] {
  const [old, now] = [operationsOf(before), operationsOf(after)];
  const changes: ApiChange[] = [];
  for (const [operation, was] of old) {
    const is = now.get(operation);
    const report = (breaking: boolean, change: string) => void changes.push({ breaking, operation, change });
    if (is === undefined) report(true, 'is gone');
    else compareOperations({ was, is, before: object(before), after: object(after), report });
  }
  for (const operation of now.keys()) {
    if (!old.has(operation)) changes.push({ breaking: false, operation, change: 'is new' });
  }
  return changes;
}

interface Comparison {
  readonly was: Json;
  readonly is: Json;
  readonly before: Json;
  readonly after: Json;
  report(breaking: boolean, change: string): void;
}

function operationsOf(document: unknown): Map<string, Json> {
  const found = Object.entries(object(object(document).paths)).flatMap(([path, methods]) =>
    METHODS.filter((method) => method in object(methods)).map((method): [string, Json] => [
      `${method.toUpperCase()} ${path}`,
      object(object(methods)[method]),
    ]),
  );
  return new Map(found);
}

function compareOperations(comparison: Comparison): void {
  const { was, is, report } = comparison;
  if (was.deprecated !== true && is.deprecated === true) report(false, 'is being retired');
  compareParameters(comparison);
  const [oldBody, newBody] = [schemaOf(was.requestBody), schemaOf(is.requestBody)];
  if (oldBody === null && newBody !== null) report(true, 'takes a body');
  if (oldBody !== null && newBody !== null) compareSchemas(comparison, oldBody, newBody, 'sent', 'body', MAX_DEPTH);
  for (const [status, response] of Object.entries(object(was.responses))) {
    const other = object(is.responses)[status];
    if (other === undefined) {
      if (status.startsWith('2')) report(true, `does not return ${status} any more`);
      continue;
    }
    const [oldReply, newReply] = [schemaOf(response), schemaOf(other)];
    if (oldReply !== null && newReply === null) report(true, `${status} has another type of content`);
    if (oldReply !== null && newReply !== null) {
      compareSchemas(comparison, oldReply, newReply, 'received', status, MAX_DEPTH);
    }
  }
}

function compareParameters(comparison: Comparison): void {
  const { was, is, before, after, report } = comparison;
  const [old, now] = [parametersOf(was, before), parametersOf(is, after)];
  for (const [name, parameter] of old) {
    const other = now.get(name);
    if (other === undefined) report(true, `${name} is gone`);
    else {
      if (parameter.required !== true && other.required === true) report(true, `${name} is required`);
      compareSchemas(comparison, object(parameter.schema), object(other.schema), 'sent', name, MAX_DEPTH);
    }
  }
  for (const [name, parameter] of now) {
    if (!old.has(name))
      report(parameter.required === true, `${name} is new${parameter.required ? ' and required' : ''}`);
  }
}

function parametersOf(operation: Json, document: Json): Map<string, Json> {
  const list = Array.isArray(operation.parameters) ? operation.parameters : [];
  const parameters = list.map((parameter) => resolve(object(parameter), document));
  return new Map(parameters.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]));
}

function compareSchemas(
  comparison: Comparison,
  oldSchema: Json,
  newSchema: Json,
  direction: Direction,
  place: string,
  depth: number,
): void {
  const [was, is] = [resolve(oldSchema, comparison.before), resolve(newSchema, comparison.after)];
  const { report } = comparison;
  if (depth === 0) return;
  compareTypes(was, is, direction, place, report);
  compareBounds(was, is, direction, place, report);
  compareFields(was, is, direction, place, report);
  const [old, now] = [object(was.properties), object(is.properties)];
  for (const name of Object.keys(old).filter((name) => name in now)) {
    compareSchemas(comparison, object(old[name]), object(now[name]), direction, `${place}.${name}`, depth - 1);
  }
  if (was.items !== undefined && is.items !== undefined) {
    compareSchemas(comparison, object(was.items), object(is.items), direction, `${place}[]`, depth - 1);
  }
}

type Compare = (was: Json, is: Json, direction: Direction, place: string, report: Comparison['report']) => void;

const compareTypes: Compare = (was, is, direction, place, report) => {
  const [old, now] = [typesOf(was), typesOf(is)];
  const [narrow, wide] = direction === 'sent' ? [old, now] : [now, old];
  if (old.length > 0 && now.length > 0 && narrow.some((type) => !wide.includes(type))) {
    report(true, `${place} is ${now.join(' or ')}, not ${old.join(' or ')}`);
  }
  const [oldValues, newValues] = [valuesOf(was), valuesOf(is)];
  const gone = oldValues.filter((value) => newValues.length > 0 && !newValues.includes(value));
  if (direction === 'sent' && gone.length > 0) report(true, `${place} may not be ${gone.join(', ')} any more`);
  if (direction === 'sent' && oldValues.length === 0 && newValues.length > 0)
    report(true, `${place} must be one of a list`);
};

const UPPER = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];
const LOWER = ['minimum', 'minLength', 'minItems', 'minProperties'];

/** Only what clients send must be within bounds. */
const compareBounds: Compare = (was, is, direction, place, report) => {
  if (direction === 'received') return;
  const tighter = (name: string, isTighter: (old: number, now: number) => boolean, none: number) => {
    const [old = none, now = none] = [numberOf(was[name]), numberOf(is[name])];
    if (isTighter(old, now)) report(true, `${place} must be within ${name} ${now}`);
  };
  for (const name of UPPER) tighter(name, (old, now) => now < old, Number.POSITIVE_INFINITY);
  for (const name of LOWER) tighter(name, (old, now) => now > old, Number.NEGATIVE_INFINITY);
  if (is.pattern !== undefined && is.pattern !== was.pattern) report(true, `${place} must match another pattern`);
};

const compareFields: Compare = (was, is, direction, place, report) => {
  const [old, now] = [object(was.properties), object(is.properties)];
  const [oldRequired, newRequired] = [namesIn(was.required), namesIn(is.required)];
  for (const name of Object.keys(old)) {
    if (!(name in now)) report(true, `${place}.${name} is gone`);
    else if (direction === 'received' && oldRequired.includes(name) && !newRequired.includes(name)) {
      report(true, `${place}.${name} may be left out`);
    } else if (direction === 'sent' && !oldRequired.includes(name) && newRequired.includes(name)) {
      report(true, `${place}.${name} is required`);
    }
  }
  for (const name of Object.keys(now).filter((name) => !(name in old))) {
    const isNeeded = direction === 'sent' && newRequired.includes(name);
    report(isNeeded, `${place}.${name} is new${isNeeded ? ' and required' : ''}`);
  }
};

/** The schema of the one content of a body or a response; null without one. */
function schemaOf(message: unknown): Json | null {
  const [content] = Object.values(object(object(message).content));
  return content === undefined ? null : object(object(content).schema);
}

/** What a reference of the document stands for. */
function resolve(value: Json, document: Json): Json {
  const { $ref } = value;
  if (typeof $ref !== 'string') return value;
  return $ref
    .split('/')
    .slice(1)
    .reduce((part, name) => object(part[name.replaceAll('~1', '/').replaceAll('~0', '~')]), document);
}

/** Alternatives are compared by their types alone. */
function typesOf(schema: Json): string[] {
  const { type, anyOf, oneOf } = schema;
  const alternatives = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (alternatives.length > 0) return [...new Set(alternatives.flatMap((one) => typesOf(object(one))))];
  return (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
}

function valuesOf({ enum: values, const: value }: Json): unknown[] {
  if (Array.isArray(values)) return values;
  return value === undefined ? [] : [value];
}

const namesIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const object = (value: unknown): Json => (isObject(value) ? value : {});
