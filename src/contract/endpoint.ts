import type { z } from 'zod';
import { apiErrors, commonReasons, mutationReasons, type Reason } from './errors.ts';
import type { Reply } from './reply.ts';
import type { Scope } from './scopes.ts';

/** The network as one function. The server is one, the client takes one. */
export type Fetch = (request: Request) => Promise<Response>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An object schema, refined or not. */
type ObjectSchema = z.ZodType<Record<string, unknown>>;

/** A request and its reply, as a reader of the documentation sees them. */
export interface EndpointExample {
  /** Query parameters as they are written. */
  readonly query?: Readonly<Record<string, string>>;
  /** The JSON body. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** What the reply carries, without its envelope. */
  readonly reply: unknown;
}

/** What an endpoint says of itself. An input field lives in the query or in the JSON body, never in both. */
export interface EndpointSpec<Q extends ObjectSchema, B extends ObjectSchema, R extends Reply<unknown, never>> {
  /** A few words, shown in the OpenAPI document and in the command's help. */
  readonly summary: string;
  /** What a user of the API should know, in a few sentences. */
  readonly description: string;
  readonly method: Method;
  readonly path: `/${string}`;
  /** What a token must hold; `none` needs a valid token only, `public` not even that. */
  readonly scope: Scope | 'none' | 'public';
  /** Whether a token of kind `client` may call it. Such a token is shipped inside applications, so few are open to it. */
  readonly openToClients?: boolean;
  /** Whether a field that only other operations have is refused, not dropped: where that would issue the wrong licence. */
  readonly refusesOthersFields?: boolean;
  readonly query?: Q;
  readonly body?: B;
  readonly reply: R;
  /** Names of `responseHeaders` that a success carries besides those that every reply of its kind carries. */
  readonly headers?: readonly ('ETag' | 'Cache-Control' | 'LKM-Budget-Remaining')[];
  readonly example: EndpointExample;
  /** The errors this endpoint may return, besides `commonReasons`. */
  readonly errors: readonly Reason[];
  /** Where this comes from; for maintainers, not in the document. */
  readonly source: string;
  /** Set when the endpoint is being retired: goes out as the headers of RFC 9745, RFC 8594 and RFC 8288. */
  readonly retirement?: {
    readonly deprecated: string;
    readonly sunset: string;
    /** The path of what takes its place. */
    readonly successor?: `/${string}`;
  };
}

/** One operation of the API as data. `Input` is what a use case receives, `Result` what it returns, `Output` what a client gets. */
export interface Endpoint<Input = never, Output = unknown, Result = Output>
  extends Omit<EndpointSpec<ObjectSchema, ObjectSchema, Reply<Output, Result>>, 'query' | 'body' | 'reply'> {
  readonly query?: ObjectSchema | undefined;
  readonly body?: ObjectSchema | undefined;
  readonly reply: Reply<Output, Result>;
  /** Never set: carries the input type. */
  readonly input?: (input: Input) => void;
}

/** An endpoint of which only the shape is known. */
export type AnyEndpoint = Endpoint<never, unknown, never>;

/** The schema of an endpoint without a query, or without a body. */
type NoFields = z.ZodType<Record<never, never>>;

/** Declares an endpoint; its types follow from its schemas. */
export const endpoint = <O, T = O, Q extends ObjectSchema = NoFields, B extends ObjectSchema = NoFields>(
  spec: EndpointSpec<Q, B, Reply<O, T>>,
): Endpoint<z.output<Q> & z.output<B>, O, T> => spec;

/** What the use case of endpoint `E` receives: parsed, branded, wire codecs decoded. */
export type InputOf<E> = E extends Endpoint<infer Input, infer _, infer _T> ? Input : never;

/** What a client gets from endpoint `E`, without its envelope. */
export type PayloadOf<E> = E extends Endpoint<infer _, infer Output, infer _T> ? Output : never;

/** What the use case of endpoint `E` returns. A list may be read piece by piece; everything else is the payload. */
export type ResultOf<E> = E extends Endpoint<infer _, infer _O, infer Result> ? Result : never;

/** Whether the operation changes something: it then runs in a transaction and takes an idempotency key. */
export const mutates = (endpoint: { readonly method: Method }): boolean => endpoint.method !== 'GET';

/** Every error the endpoint may return. */
export const reasonsOf = (endpoint: AnyEndpoint): readonly Reason[] => [
  ...(endpoint.scope === 'public' ? commonReasons.filter((reason) => !needToken.includes(reason)) : commonReasons),
  ...(mutates(endpoint) ? mutationReasons : []),
  ...endpoint.errors,
];

/** Errors of endpoints that need a token. */
const needToken: readonly Reason[] = ['invalidToken', 'scopeMissing'];

/** The text that an idempotency key has to match: visible ASCII, with spaces only inside. */
export const IDEMPOTENCY_KEY_PATTERN = '^[!-~]([ -~]*[!-~])?$';

/** The headers of a request that changes something; either will do. Source: API description, "Common behavior". */
export const idempotencyHeaders = ['Idempotency-Key', 'X-Idempotency-Key'] as const;

/** A header of a response, with its JSON Schema. */
export interface ResponseHeader {
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const text = (example: string, more: object = {}) => ({ type: 'string', ...more, examples: [example] });

/** Every header that a response may carry and that means something to its reader. */
export const responseHeaders = {
  'X-Request-Id': {
    description: 'Names this request in the log of the service',
    schema: text('4b0c2a4e-0c9e-4d0a-9a55-1f5e3c2d7b11'),
  },
  RateLimit: {
    description: 'What is left of the limit: `r` requests for the next `t` seconds',
    schema: text('"requests";r=5999;t=60'),
  },
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in `w` seconds',
    schema: text('"requests";q=6000;w=60'),
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the request is sent again',
    schema: { type: 'integer', minimum: 0, maximum: 86_400, examples: [1] },
  },
  'Idempotency-Replayed': {
    description: 'Present when this is the response that an earlier request with the same idempotency key was given',
    schema: { type: 'string', const: 'true' },
  },
  'LKM-Budget-Remaining': {
    description: 'How many keys a token with `maxIssues` may still issue, this request counted',
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999, examples: [999] },
  },
  'LKM-Invalid-Fields': {
    description:
      'The fields that are missing or wrong, with commas between them; percent-encoded where they are not ASCII',
    schema: text('usesPerKey, newCustomer.email'),
  },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 6750)', schema: text('Bearer') },
  'Cache-Control': { description: 'How long the response may be kept', schema: text('public, max-age=300') },
  ETag: { description: 'Names this version of the content (RFC 9110)', schema: text('"5f2c9a"') },
  Deprecation: {
    description: 'Since when the endpoint is being retired (RFC 9745)',
    schema: text('@1763719200', { pattern: '^@[0-9]+$' }),
  },
  Sunset: {
    description: 'When the endpoint stops working (RFC 8594)',
    schema: text('Mon, 21 Dec 2026 10:00:00 GMT'),
  },
  Link: {
    description: 'Where the retirement is described, and what takes the place of the endpoint (RFC 8288)',
    schema: text('</docs>; rel="deprecation"; type="text/html"'),
  },
} as const satisfies Record<string, ResponseHeader>;

export type ResponseHeaderName = keyof typeof responseHeaders;

/** The headers that a success of the endpoint may carry. */
export function headersOfSuccess(endpoint: AnyEndpoint): readonly ResponseHeaderName[] {
  return [
    ...headersOfAny(endpoint),
    ...(mutates(endpoint) ? (['Idempotency-Replayed'] as const) : []),
    ...(endpoint.headers ?? []),
  ];
}

/** The headers that an error response with these reasons may carry. */
export function headersOfError(endpoint: AnyEndpoint, reasons: readonly Reason[]): readonly ResponseHeaderName[] {
  const own: readonly Reason[] = endpoint.errors;
  const isStored = mutates(endpoint) && reasons.some((reason) => own.includes(reason) || reason === 'invalidParams');
  return [
    ...headersOfAny(endpoint),
    ...(isStored ? (['Idempotency-Replayed'] as const) : []),
    ...(reasons.includes('invalidParams') ? (['LKM-Invalid-Fields'] as const) : []),
    ...(reasons.includes('issueLimit') ? (['LKM-Budget-Remaining'] as const) : []),
    ...(reasons.some((reason) => retryable.includes(reason)) ? (['Retry-After'] as const) : []),
    ...(reasons.some((reason) => apiErrors[reason].status === 401) ? (['WWW-Authenticate'] as const) : []),
  ];
}

/** Errors that pass by themselves, so that their responses say when to try again. */
const retryable: readonly Reason[] = ['rateLimited', 'requestInProgress', 'unavailable'];

function headersOfAny({ scope, retirement }: AnyEndpoint): readonly ResponseHeaderName[] {
  return [
    'X-Request-Id',
    ...(scope === 'public' ? [] : (['RateLimit', 'RateLimit-Policy'] as const)),
    ...(retirement === undefined ? [] : (['Deprecation', 'Sunset', 'Link'] as const)),
  ];
}
