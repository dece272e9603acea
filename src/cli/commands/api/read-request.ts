import type { Method } from '../../../contract/endpoint.ts';
import { UsageError } from '../../failure/errors.ts';
import { parseJson } from '../../values/json.ts';

export interface WrittenRequest {
  readonly method: Method;
  readonly path: `/${string}`;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>> | null;
}

/** A field of the body, or of the query where there is no body or another one. */
export type WrittenField = readonly [name: string, value: unknown];

interface Words {
  readonly words: readonly string[];
  readonly method: string | undefined;
  readonly fields: readonly WrittenField[];
  /** The body from a file or stdin. */
  readonly input: string | null;
}

/** Reads a request as `gh api` does: POST if there is something to send, else GET. Throws `UsageError`. */
export function readRequest({ words, method, fields, input }: Words): WrittenRequest {
  const [path = '', written] = words.toReversed();
  if (words.length > 2) throw new UsageError(`'${words[2]}' is too much: a method and a path are all that it takes`);
  if (written !== undefined && method !== undefined) throw new UsageError(`--method and '${written}' name two methods`);
  const chosen = readMethod(written ?? method ?? (fields.length > 0 || input !== null ? 'POST' : 'GET'));
  if (input !== null && chosen === 'GET') throw new UsageError('a GET request has no body: leave out --input');
  const address = readPath(path);
  const isBody = input === null && chosen !== 'GET' && fields.length > 0;
  const query = isBody ? [] : fields.map(asParameter);
  return {
    method: chosen,
    path: address.path,
    query: entriesOnce([...address.query, ...query]),
    body: isBody ? nest(fields) : input === null ? null : parseBody(input),
  };
}

const methods: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function readMethod(text: string): Method {
  const method = methods.find((one) => one === text.toUpperCase());
  if (method === undefined) throw new UsageError(`'${text}' is not a method: ${methods.join(', ')}`);
  return method;
}

/** A base for parsing paths; nothing is sent there. */
const placeholder = 'http://service.invalid';

function readPath(text: string): { readonly path: `/${string}`; readonly query: URLSearchParams } {
  const isWhole = /^[a-z][a-z0-9+.-]*:/i.test(text);
  const url = URL.parse(text.startsWith('/') ? text : `/${text}`, placeholder);
  if (isWhole || url === null || url.origin !== placeholder || url.hash !== '') {
    throw new UsageError(`'${text.slice(0, 80)}' is not the path of a request`, [
      'It begins with a slash and may have a query: /key/list?limit=10',
      ['Another service:', '--base-url URL'],
    ]);
  }
  return { path: `/${url.pathname.slice(1)}`, query: url.searchParams };
}

function asParameter([name, value]: WrittenField): readonly [name: string, value: string] {
  if (typeof value === 'object') throw new UsageError(`${name} cannot stand in a query; it takes text and numbers`);
  return [name, String(value)];
}

function entriesOnce(entries: readonly (readonly [name: string, value: string])[]): WrittenRequest['query'] {
  const names = entries.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new UsageError(`${twice} is given twice`);
  return Object.fromEntries(entries);
}

/** The error does not contain the text, which may hold a licence key. */
function parseBody(text: string): Record<string, unknown> {
  try {
    const body = parseJson(text);
    if (isObject(body)) return body;
  } catch {}
  throw new UsageError('the input is not a JSON object', ['Requests of this service are objects.']);
}

/** Builds nested objects and lists from names such as `newCustomer[email]` and `allowedHosts[]`. */
function nest(fields: readonly WrittenField[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [name, value] of fields) put(body, partsOf(name), value, name);
  return body;
}

/** `a[b][]` → `a`, `b`, and empty for a place at the end of a list. */
function partsOf(name: string): string[] {
  const [, first = '', rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const parts = [first, ...Array.from(rest.matchAll(/\[([^[\]]*)\]/g), ([, part = '']) => part)];
  if (first !== '' && !parts.includes('__proto__')) return parts;
  throw new UsageError(`'${name.slice(0, 40)}' is not a name of a field`);
}

function put(object: Record<string, unknown>, [part = '', ...rest]: readonly string[], value: unknown, name: string) {
  if (rest.length === 0) {
    if (Object.hasOwn(object, part)) throw new UsageError(`${name} is given twice`);
    object[part] = value;
    return;
  }
  const isList = rest[0] === '';
  object[part] ??= isList ? [] : {};
  const inner = object[part];
  if (isList && Array.isArray(inner) && rest.length === 1) inner.push(value);
  else if (!isList && isObject(inner)) put(inner, rest, value, name);
  else throw new UsageError(`${name} does not go with the fields before it`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
