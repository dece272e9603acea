import { isUtf8 } from 'node:buffer';
import parseJson from 'secure-json-parse';
import type { AnyEndpoint } from '../../contract/endpoint.ts';
import { ApiError, apiError } from '../../contract/errors.ts';
import { misplacedFields, namesIn } from '../../contract/field-names.ts';
import type { HttpRequest, RequestHeaders } from './messages.ts';

const MAX_JSON_DEPTH = 32;

const MAX_FIELDS = 10;

const MAX_FIELD_LENGTH = 100;

/**
 * Parses the input of an endpoint: its query, its JSON body, or both.
 *
 * @throws ApiError `invalidParams` for any invalid input
 */
export function readInput(
  endpoint: AnyEndpoint,
  { target, headers }: HttpRequest,
  bytes: Uint8Array,
): Record<string, unknown> {
  const parameters = endpoint.query && readQuery(splitTarget(target).query);
  const hasBody = endpoint.body !== undefined || endpoint.takesQueryInBody === true;
  const sent = hasBody ? readJson(headers.get('content-type') ?? '', bytes) : undefined;
  const { fields: json, nameOf } = withPreferredNames(endpoint, sent);
  if (endpoint.takesQueryInBody) moveToQuery(endpoint, json, parameters);
  addFromHeaders(endpoint, headers, parameters);
  if (endpoint.refusesOthersFields) refuseMisplaced(endpoint, Object.keys(json ?? {}));
  const query = endpoint.query && parse(endpoint.query, parameters);
  const body = endpoint.body && parse(endpoint.body, json, nameOf);
  return { ...query, ...body };
}

/** The fields of a body by their preferred names, with the fields that an alias sets; and the sent name of each. */
function withPreferredNames({ query, otherNames = {}, sets }: AnyEndpoint, sent: unknown) {
  const names = new Map<string, string>();
  const nameOf = (preferred: string): string => names.get(preferred) ?? preferred;
  if (!isObject(sent)) return { fields: sent, nameOf };
  const others = Object.entries(otherNames).filter(([name]) => Object.hasOwn(sent, name));
  if (others.length === 0 && sets === undefined) return { fields: sent, nameOf };
  const isFixed = sets !== undefined && Object.keys(sets).length > 0;
  const taken = isFixed ? namesIn(query).filter((name) => Object.hasOwn(sent, name)) : Object.keys(sent);
  const fields = { ...Object.fromEntries(taken.map((name) => [name, sent[name]])), ...sets };
  for (const [name, [preferred, convert = (value: unknown) => value]] of others) {
    if (name !== preferred && Object.hasOwn(sent, preferred)) throw apiError('invalidParams', { fields: [name] });
    delete fields[name];
    fields[preferred] = convert(sent[name]);
    names.set(preferred, name);
  }
  return { fields, nameOf };
}

/** Moves fields of the query from the body to the query; values in the query take precedence. */
function moveToQuery(endpoint: AnyEndpoint, json: unknown, parameters: Record<string, string> = {}): void {
  if (!isObject(json)) return;
  for (const name of namesIn(endpoint.query)) {
    if (typeof json[name] === 'string') parameters[name] ??= json[name];
    delete json[name];
  }
}

/** Adds fields of the query that stand in headers; values in the query take precedence. */
function addFromHeaders(
  { queryInHeaders = {} }: AnyEndpoint,
  headers: RequestHeaders,
  parameters: Record<string, string> = {},
): void {
  for (const [name, header] of Object.entries(queryInHeaders)) {
    const value = headers.get(header.toLowerCase());
    if (value !== null) parameters[name] ??= decodeHeader(value);
  }
}

/** The text of a header: a character stands for each byte of it, and most programs send UTF-8. */
function decodeHeader(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString() : value;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function refuseMisplaced(endpoint: AnyEndpoint, names: readonly string[]): void {
  const misplaced = misplacedFields(endpoint, names);
  if (misplaced.length === 0) return;
  const named = misplaced.slice(0, MAX_FIELDS);
  throw apiError('invalidParams', {
    fields: named.map(({ name }) => name),
    hint: named.map(({ name, message }) => `${name}: ${message}`).join('; '),
  });
}

function parse(schema: NonNullable<AnyEndpoint['body']>, input: unknown, nameOf = (name: string): string => name) {
  const result = schema.safeParse(input);
  if (!result.success) throw apiError('invalidParams', { fields: fieldsOf(result.error.issues).map(nameOf) });
  return result.data;
}

/** The first fields with issues; bad input may have thousands. */
function fieldsOf(issues: readonly { readonly path: readonly PropertyKey[] }[]): string[] {
  const named = issues.filter(({ path }) => path.length > 0);
  const names = named.map(({ path }) => path.map(String).join('.').slice(0, MAX_FIELD_LENGTH));
  return [...new Set(names)].slice(0, MAX_FIELDS);
}

function readQuery(text: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in query || name.split('.').includes('__proto__'))
      throw apiError('invalidParams', { fields: [name.slice(0, MAX_FIELD_LENGTH)] });
    query[name] = value;
  }
  return query;
}

/** A missing body counts as an object without fields. */
function readJson(contentType: string, bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    throw apiError('invalidParams', {}, { cause: new Error('the content type is not application/json') });
  }
  try {
    if (!isUtf8(bytes)) throw new Error('the body is not UTF-8');
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
    if (isNestedDeeper(text, MAX_JSON_DEPTH)) throw new Error(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
    return parseJson(text);
  } catch (error) {
    throw apiError('invalidParams', {}, { cause: error });
  }
}

/** Whether the error is for a body that is not JSON; only this `invalidParams` has a cause. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof ApiError && error.reason === 'invalidParams' && error.cause !== undefined;

/** Counts brackets outside of strings, before anything is parsed. */
function isNestedDeeper(json: string, levels: number): boolean {
  let depth = 0;
  for (let i = 0; i < json.length; i += 1) {
    const character = json[i];
    if (character === '"') i = endOfString(json, i);
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

/** The index of the quote that ends a string; at least the length of the text when nothing ends it. */
function endOfString(json: string, start: number): number {
  let i = start + 1;
  while (i < json.length && json[i] !== '"') i += json[i] === '\\' ? 2 : 1;
  return i;
}

const MAX_BODY_BYTES = 1_048_576;

/**
 * Starts to collect the chunks of a body.
 *
 * @throws ApiError `bodyTooLarge` when `Content-Length` already says so, `unsupportedMediaType` when the headers announce
 * a content coding or a character set that is not supported
 */
export function createBodyReader(headers: RequestHeaders) {
  if (Number(headers.get('content-length')) > MAX_BODY_BYTES) throw apiError('bodyTooLarge');
  if (!isPlainUtf8(headers)) throw apiError('unsupportedMediaType');
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    add(chunk: Uint8Array): void {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) throw apiError('bodyTooLarge');
      chunks.push(chunk);
    },
    bytes: (): Uint8Array => (chunks.length === 1 && chunks[0]) || Buffer.concat(chunks),
  };
}

function isPlainUtf8(headers: RequestHeaders): boolean {
  const coding = headers.get('content-encoding');
  if (coding !== null && !/^\s*identity\s*$/i.test(coding)) return false;
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers.get('content-type') ?? '')?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/** Splits a target at its first question mark, which stays with the query. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark === -1 ? { path: target, query: '' } : { path: target.slice(0, mark), query: target.slice(mark) };
}
