import { z } from 'zod';
import type { AnyEndpoint } from '../contract/endpoint.ts';
import { misplacedFields, UNKNOWN_FIELD } from '../contract/field-names.ts';
import { InputError, type InputIssue } from './errors.ts';

/** How the client identifies itself to the service. */
export interface Credentials {
  readonly userAgent: string;
  readonly token: string | undefined;
}

type Inputs = Pick<AnyEndpoint, 'query' | 'body'>;

/** Encodes an input by the schemas, as query (`?…` or empty) and JSON text. Throws an {@link InputError} that lists all that is wrong. */
export function encodeInput(endpoint: Inputs, input: unknown): { search: string; body: string | null } {
  const query = encodePart(endpoint.query, input);
  const body = encodePart(endpoint.body, input);
  const issues = [...query.issues, ...body.issues];
  if (issues.length > 0) throw new InputError(issues);
  refuseUnknownFields(endpoint, input, { ...query.fields, ...body.fields });
  return { search: toSearch(query.fields), body: endpoint.body ? JSON.stringify(body.fields) : null };
}

/** The headers of a request to `endpoint`. A public endpoint does not get the token. */
export function writeHeaders(
  { scope, body, reply: { contentType } }: Pick<AnyEndpoint, 'scope' | 'body' | 'reply'>,
  { userAgent, token }: Credentials,
  idempotencyKey: string | null,
): Readonly<Record<string, string>> {
  return {
    // Errors are JSON, whatever the content type of the reply.
    accept: contentType ? `${contentType}, application/json` : 'application/json',
    'user-agent': userAgent,
    ...(token !== undefined && scope !== 'public' && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
  };
}

/** Refuses a token that cannot be written in a header; the message does not repeat it. */
export function checkToken(token: string | undefined): void {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return;
  throw new InputError([{ path: 'token', message: 'must be visible ASCII without spaces' }]);
}

/** Refuses an idempotency key that the service would refuse with 400/5. */
export function checkIdempotencyKey(key: string): void {
  if (key.length <= 255 && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(key)) return;
  const message = 'must be 1 to 255 characters of visible ASCII, with spaces only inside';
  throw new InputError([{ path: 'idempotencyKey', message }]);
}

/** The schemas of query and body each parse the whole input and keep the fields they name. */
function encodePart(schema: z.ZodType | undefined, input: unknown) {
  const { data, error } = schema === undefined ? {} : z.safeEncode(schema, input);
  const issues = error?.issues ?? [];
  return {
    fields: { ...Object(data) } as Readonly<Record<string, unknown>>,
    issues: issues.map(({ path, message }): InputIssue => ({ path: path.map(String).join('.'), message })),
  };
}

/** A misspelt field would otherwise be dropped, and the service would apply its default. */
function refuseUnknownFields(endpoint: Inputs, input: unknown, known: object): void {
  const names = Object.entries(input ?? {})
    .filter(([name, value]) => value !== undefined && !Object.hasOwn(known, name))
    .map(([name]) => name);
  if (names.length === 0) return;
  const messages = new Map(misplacedFields(endpoint, names).map(({ name, message }) => [name, message]));
  throw new InputError(names.map((path) => ({ path, message: messages.get(path) ?? UNKNOWN_FIELD })));
}

function toSearch(fields: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** Throws {@link InputError} for a limit that is negative or no number, and for a timeout of 0. Null is no limit. */
export function checkLimits(limits: Readonly<Record<string, number | null>>): void {
  const wrong = Object.entries(limits).filter(
    ([name, limit]) => limit !== null && !(name === 'timeoutMs' ? limit > 0 : limit >= 0),
  );
  if (wrong.length === 0) return;
  throw new InputError(
    wrong.map(([path]) => ({ path, message: `must be a number ${path === 'timeoutMs' ? 'above' : 'of at least'} 0` })),
  );
}

/** Reads a base URL; `href` has no slash at the end. Throws {@link InputError}, for plain http beyond loopback too. */
export function readBaseUrl(text: string, options: { readonly plainHttpAllowed: boolean }) {
  if (!URL.canParse(text)) throw invalidBaseUrl('is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalidBaseUrl('must begin with https://');
  if (url.username !== '' || url.password !== '') throw invalidBaseUrl('must not carry a user name or password');
  if (url.search !== '' || url.hash !== '') throw invalidBaseUrl('must not carry a query or fragment');
  const isLoopback = isLoopbackName(url.hostname);
  if (url.protocol === 'http:' && !isLoopback && !options.plainHttpAllowed) {
    throw invalidBaseUrl('must begin with https://; plain http is for loopback addresses only');
  }
  return { href: url.href.replace(/\/+$/, ''), host: url.host, isLoopback };
}

/** `URL` has already turned `127.1` and `0x7f000001` into `127.0.0.1`. */
const isLoopbackName = (hostname: string) =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

const invalidBaseUrl = (message: string) => new InputError([{ path: 'baseUrl', message }]);
