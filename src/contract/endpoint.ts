import type { z } from 'zod';
import { commonReasons, mutationReasons, type Reason } from './errors.ts';
import type { Reply } from './reply.ts';
import type { Scope } from './scopes.ts';

/** The network as one function: the server provides it, the client takes it. */
export type Fetch = (request: Request) => Promise<Response>;

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An object schema, refined or not. */
type ObjectSchema = z.ZodType<Record<string, unknown>>;

/** The name of a field that is preferred, and how its value is written there. */
export type OtherName = readonly [preferred: string, convert?: (value: unknown) => unknown];

/** The declaration of an endpoint. An input field is in the query or in the JSON body, never in both. */
export interface EndpointSpec<Q extends ObjectSchema, B extends ObjectSchema, R extends Reply<unknown, never>> {
  /** A few words, shown in the OpenAPI document and in the command's help. */
  readonly summary: string;
  /** Further information for users of the API, in a few sentences. */
  readonly description?: string;
  /** Whether a token of kind `client` may call it. Such a token is shipped inside applications, so few are open to it. */
  readonly openToClients?: boolean;
  /** Whether a field that only other operations have is refused instead of ignored: ignoring it could issue the wrong licence. */
  readonly refusesOthersFields?: boolean;
  readonly query?: Q;
  readonly body?: B;
  readonly reply: R;
  /** Whether it may read many rows: on SQLite these requests are served by a thread of their own. */
  readonly readsMany?: boolean;
  /** Other methods and paths of the endpoint, for existing applications, and the fields that each of them sets. */
  readonly aliases?: Readonly<Record<`${Method} /${string}`, Readonly<Record<string, unknown>>>>;
  /** Other names of fields of the body, or other ways to write them. */
  readonly otherNames?: Readonly<Record<string, OtherName>>;
  /** Whether fields of the query may stand in the body. */
  readonly takesQueryInBody?: boolean;
  /** Headers in which fields of the query may stand, for callers that keep them out of addresses. */
  readonly queryInHeaders?: Readonly<Record<string, string>>;
  /** Names of `responseHeaders` that a success carries besides the headers of every reply of its kind. */
  readonly headers?: readonly ('ETag' | 'Cache-Control' | 'LKM-Budget-Remaining')[];
  /** Optional fields of the example, as they are on the wire; `openapi/examples.ts` adds the required fields. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** Members of the reply that the request of the example does not get. */
  readonly exampleLacks?: readonly string[];
  /**
   * Whether the message for an invalid request is exactly the message of the API description; otherwise it names the fields.
   */
  readonly fixesInvalidText?: boolean;
  /** The errors this endpoint may return, besides `commonReasons`. */
  readonly errors?: readonly Reason[];
  /** Set when the endpoint is being retired: goes out as the headers of RFC 9745, RFC 8594 and RFC 8288. */
  readonly retirement?: {
    readonly deprecated: string;
    readonly sunset: string;
    /** The path of the endpoint that replaces it. */
    readonly successor?: `/${string}`;
  };
}

/** One operation of the API as data. A use case receives `Input` and returns `Result`; a client gets `Output`. */
export interface Endpoint<Input = never, Output = unknown, Result = Output>
  extends Omit<EndpointSpec<ObjectSchema, ObjectSchema, Reply<Output, Result>>, 'query' | 'body'> {
  readonly method: Method;
  readonly path: `/${string}`;
  /** The required scope; `none`: any valid token, `public`: no token. */
  readonly scope: Scope | 'none' | 'public';
  readonly query?: ObjectSchema | undefined;
  readonly body?: ObjectSchema | undefined;
  readonly errors: readonly Reason[];
  /** Whether the operation only reads although its method is not GET: an alias of a read. */
  readonly onlyReads?: boolean;
  /** The fields that an alias sets. */
  readonly sets?: Readonly<Record<string, unknown>>;
  /** Never set: carries the input type. */
  readonly input?: (input: Input) => void;
}

/** Any endpoint, without its exact types. */
export type AnyEndpoint = Endpoint<never, unknown, never>;

/** The schema of an endpoint without a query, or without a body. */
type NoFields = z.ZodType<Record<never, never>>;

/** Declares an endpoint: method and path, scope, and the rest. Its types follow from its schemas. */
export function endpoint<O, T = O, Q extends ObjectSchema = NoFields, B extends ObjectSchema = NoFields>(
  route: `${Method} /${string}`,
  scope: Endpoint['scope'],
  spec: EndpointSpec<Q, B, Reply<O, T>>,
): Endpoint<z.output<Q> & z.output<B>, O, T> {
  const [method, path] = route.split(' ') as [Method, Endpoint['path']];
  return { method, path, scope, errors: [], ...spec };
}

/** The aliases of an endpoint, as endpoints. An alias of a read takes the fields of the query in its body. */
export const aliasesOf = (endpoint: AnyEndpoint): readonly AnyEndpoint[] =>
  Object.entries(endpoint.aliases ?? {}).map(([route, sets]) => {
    const [method, path] = route.split(' ') as [Method, Endpoint['path']];
    return {
      ...endpoint,
      method,
      path,
      sets,
      takesQueryInBody: endpoint.query !== undefined,
      onlyReads: !mutates(endpoint),
    };
  });

/** The input of the use case of endpoint `E`: parsed, branded, wire codecs decoded. */
export type InputOf<E> = E extends Endpoint<infer Input, infer _, infer _T> ? Input : never;

/** The result of endpoint `E` for a client, without its envelope. */
export type PayloadOf<E> = E extends Endpoint<infer _, infer Output, infer _T> ? Output : never;

/** The result of the use case of endpoint `E`: the payload, or a list that may be read in parts. */
export type ResultOf<E> = E extends Endpoint<infer _, infer _O, infer Result> ? Result : never;

/** Whether the operation changes something: it then runs in a transaction and takes an idempotency key. */
export const mutates = ({ method, onlyReads }: Pick<AnyEndpoint, 'method' | 'onlyReads'>): boolean =>
  method !== 'GET' && !onlyReads;

/** Every error the endpoint may return. */
export const reasonsOf = (endpoint: AnyEndpoint): readonly Reason[] => [
  ...commonReasonsOf(endpoint),
  ...endpoint.errors,
];

/** The errors that all endpoints of one kind share. */
export const commonReasonsOf = (endpoint: AnyEndpoint): readonly Reason[] => [
  ...(endpoint.scope === 'public' ? commonReasons.filter((reason) => !needToken.includes(reason)) : commonReasons),
  ...(mutates(endpoint) ? mutationReasons : []),
];

/** Errors of endpoints that need a token. */
const needToken: readonly Reason[] = ['invalidToken', 'scopeMissing'];
