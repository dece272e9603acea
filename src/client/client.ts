import type { z } from 'zod';
import type * as customers from '../contract/customers.ts';
import type { AnyEndpoint, InputOf, PayloadOf } from '../contract/endpoint.ts';
import type * as events from '../contract/events.ts';
import type { Duration } from '../contract/fields.ts';
import { type Contract, contract } from '../contract/index.ts';
import type * as licenses from '../contract/keys/licenses.ts';
import type * as products from '../contract/products.ts';
import type * as tokens from '../contract/tokens.ts';
import type * as webhooks from '../contract/webhooks.ts';
import { type CallContext, call } from './call.ts';
import { isList, type ListRequest, requestList } from './lists.ts';
import { fetchTransport, openNetwork } from './network.ts';
import type { CallOptions, ClientOptions } from './options.ts';
import { proxyFor } from './proxy.ts';
import { checkLimits, checkToken, readBaseUrl } from './request.ts';
import { deprecationReporter } from './response.ts';
import { systemTiming } from './timing.ts';

/** Every operation of the contract as a function: `client.keys.create({ productId }, options)`. */
export type Client = ClientOf<Contract>;

/** The operations of any set of endpoints, by resource and name. */
export type ClientOf<Endpoints> = {
  readonly [Resource in keyof Endpoints]: {
    readonly [Name in keyof Endpoints[Resource]]: Operation<
      Exclusive<Plain<InputOf<Endpoints[Resource][Name]>>>,
      Closed<PayloadOf<Endpoints[Resource][Name]>>
    >;
  };
};

/** An operation. Input without required fields may be left out. */
type Operation<Input, Payload> =
  Record<never, never> extends Input
    ? (input?: keyof Input extends never ? Record<string, never> : Input, options?: CallOptions) => Answer<Payload>
    : (input: Input, options?: CallOptions) => Answer<Payload>;

/** The return type of an operation; a list can also be iterated. */
type Answer<Payload> = Payload extends { readonly items: readonly (infer Item)[] }
  ? ListRequest<Payload, Item>
  : Promise<Payload>;

/** `T` with its declared fields only, so that a misspelt field does not compile; later fields pass at run time. */
export type Closed<T> = T extends string | number
  ? T
  : T extends (infer Item)[]
    ? Closed<Item>[]
    : T extends readonly (infer Item)[]
      ? readonly Closed<Item>[]
      : T extends object
        ? { [Name in keyof T as IsOpen<Name, T[Name]> extends true ? never : Name]: Closed<T[Name]> }
        : T;

/** Whether a member is an index signature. */
type IsOpen<Name, Value> = string extends Name ? (unknown extends Value ? true : false) : false;

/** A licence key with its limits, its state and its devices. */
export type License = Closed<licenses.License>;
/** A device that holds an activation slot of a key. */
export type Device = Closed<licenses.Device>;
export type Customer = Closed<customers.Customer>;
export type Product = Closed<products.Product>;
export type Token = Closed<tokens.Token>;
/** One thing that happened. */
export type Event = Closed<events.Event>;
export type Webhook = Closed<webhooks.Webhook>;

/** Either `customerId` or `newCustomer`, never both. */
type Exclusive<Input> = 'customerId' | 'newCustomer' extends keyof Input
  ? Input & ({ readonly customerId?: null | undefined } | { readonly newCustomer?: null | undefined })
  : Input;

/** `T` without zod's brands, so that a caller passes plain values: `ProductId` becomes `string`. */
export type Plain<T> = T extends string & z.$brand
  ? string
  : T extends number & z.$brand
    ? number
    : T extends Duration
      ? Duration
      : T extends readonly (infer Item)[]
        ? readonly Plain<Item>[]
        : T extends object
          ? { [Name in keyof T]: Plain<T[Name]> }
          : T;

/**
 * Makes a client. Its operations resolve to the payload and reject with `InputError` (nothing was sent), `ApiError` (the
 * service refused), `NetworkError` (no complete response) or `ProtocolError` (a response outside the contract). Throws
 * `InputError` when the base URL, the token or a limit cannot be used.
 */
export const createClient = (options: ClientOptions): Client => clientOfCall(createCallEndpoint(options));

/**
 * Calls an endpoint, also an endpoint that the contract does not have. Resolves and rejects as the operations of a client.
 */
export type CallEndpoint = (endpoint: AnyEndpoint, input?: unknown, options?: CallOptions) => Promise<unknown>;

/** Makes the function that calls endpoints. Throws as `createClient` does. */
export function createCallEndpoint(options: ClientOptions): CallEndpoint {
  const context = readOptions(options);
  return (endpoint, input = {}, callOptions = {}) => call(context, endpoint, input, callOptions);
}

/** The operations of the contract, called by `callEndpoint`. */
export function clientOfCall(callEndpoint: CallEndpoint): Client {
  const operationOf =
    (endpoint: AnyEndpoint) =>
    (input: object = {}, options?: CallOptions) => {
      const send = (fields: object) => callEndpoint(endpoint, fields, options);
      return isList(endpoint) ? requestList(send, endpoint, input) : send(input);
    };
  const resources = Object.entries(contract).map(([resource, named]) => [
    resource,
    Object.fromEntries(Object.entries(named).map(([name, endpoint]) => [name, operationOf(endpoint)])),
  ]);
  return Object.fromEntries(resources) as Client;
}

/** Makes the state that all calls of a client share, from its options. Throws `InputError`. */
export function readOptions(options: ClientOptions): CallContext {
  const { token, ca, fetch, timing = systemTiming } = options;
  const { timeoutMs = 30_000, maxRetries = null, maxWaitMs = 60_000 } = options;
  const { maxElapsedMs = maxRetries === null ? 30_000 : Number.POSITIVE_INFINITY } = options;
  const { maxUnreachableMs = maxElapsedMs } = options;
  const limits = { timeoutMs, maxRetries, maxElapsedMs, maxUnreachableMs, maxWaitMs };
  checkLimits(limits);
  checkToken(token);
  // In this process, or without a token, plain http is safe.
  const plainHttpAllowed = fetch !== undefined && token === undefined;
  const { href, host, isLoopback } = readBaseUrl(options.baseUrl, { plainHttpAllowed });
  const connectTimeoutMs = Math.min(10_000, timeoutMs);
  // A remote proxy would see the plain http for a loopback address.
  const proxy = fetch || isLoopback ? null : proxyFor(href, process.env);
  const transport = fetch ? fetchTransport(fetch) : openNetwork({ connectTimeoutMs, proxy, ca });
  return {
    baseHref: href,
    host,
    proxy: proxy?.shown,
    credentials: { userAgent: options.userAgent ?? 'lkm', token },
    limits,
    timing,
    transport,
    onHeaders: deprecationReporter(options.onNotice ?? (() => {})),
    hooks: options,
  };
}
