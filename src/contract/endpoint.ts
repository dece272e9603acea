import type { z } from 'zod';
import { commonReasons, mutationReasons, type Reason } from './errors.ts';
import type { Reply } from './reply.ts';
import type { Scope } from './scopes.ts';

/** The network as one function. The server is one, the client takes one. */
export type Fetch = (request: Request) => Promise<Response>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An object schema, refined or not. */
type ObjectSchema = z.ZodType<Record<string, unknown>>;

/** What an endpoint says of itself. An input field lives in the query or in the JSON body, never in both. */
export interface EndpointSpec<Q extends ObjectSchema, B extends ObjectSchema, R extends Reply> {
  /** One sentence, shown in the OpenAPI document and in the command's help. */
  readonly summary: string;
  readonly method: Method;
  readonly path: `/${string}`;
  /** What a token must hold; `none` needs a valid token only, `public` not even that. */
  readonly scope: Scope | 'none' | 'public';
  readonly query?: Q;
  readonly body?: B;
  readonly reply: R;
  /** The refusals this endpoint may answer, besides `commonReasons`. */
  readonly errors: readonly Reason[];
  /** Where this comes from. */
  readonly source: string;
  /** Set when the endpoint is being retired: both go out as the headers of RFC 9745 and RFC 8594. */
  readonly retirement?: { readonly deprecated: string; readonly sunset: string };
}

/** One operation of the API as data. `Input` is what a use case receives, `Output` what it answers. */
export interface Endpoint<Input = never, Output = unknown>
  extends EndpointSpec<ObjectSchema, ObjectSchema, Reply<Output>> {
  /** Never set: carries the input type. */
  readonly input?: (input: Input) => void;
}

/** An endpoint of which only the shape is known. */
export type AnyEndpoint = Endpoint<never, never>;

/** The schema of an endpoint without a query, or without a body. */
type NoFields = z.ZodType<Record<never, never>>;

/** Declares an endpoint; its types follow from its schemas. */
export function endpoint<O, Q extends ObjectSchema = NoFields, B extends ObjectSchema = NoFields>(
  spec: EndpointSpec<Q, B, Reply<O>>,
): Endpoint<z.output<Q> & z.output<B>, O> {
  return spec as Endpoint<z.output<Q> & z.output<B>, O>;
}

/** What the use case of endpoint `E` receives: parsed, branded, wire codecs decoded. */
export type InputOf<E> = E extends Endpoint<infer Input, infer _> ? Input : never;

/** What the use case of endpoint `E` answers, without its envelope. */
export type PayloadOf<E> = E extends Endpoint<infer _, infer Output> ? Output : never;

/** Whether the operation changes something: it then runs in a transaction and takes an idempotency key. */
export const mutates = (endpoint: { readonly method: Method }): boolean => endpoint.method !== 'GET';

/** Every refusal the endpoint may answer. */
export const reasonsOf = (endpoint: AnyEndpoint): readonly Reason[] => [
  ...(endpoint.scope === 'public' ? commonReasons.filter((reason) => !needToken.includes(reason)) : commonReasons),
  ...(mutates(endpoint) ? mutationReasons : []),
  ...endpoint.errors,
];

/** What only an endpoint that asks for a token refuses with. */
const needToken: readonly Reason[] = ['invalidToken', 'scopeMissing'];
