import { type Contract, listEndpoints, type NamedEndpoint } from '../../contract/index.ts';

/** The name of an operation of the contract: `keys.create`. */
export type OperationName = { [R in keyof Contract]: `${R}.${keyof Contract[R] & string}` }[keyof Contract];

/** The operation that a request is of, by its method and path: `POST /create-key`; undefined for another request. */
export const findOperation = (request: string | undefined): NamedEndpoint | undefined =>
  listEndpoints().find(({ endpoint }) => `${endpoint.method} ${endpoint.path}` === request);
