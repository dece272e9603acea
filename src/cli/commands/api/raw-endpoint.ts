import { z } from 'zod';
import type { AnyEndpoint } from '../../../contract/endpoint.ts';
import { listEndpoints } from '../../../contract/index.ts';
import type { WrittenRequest } from './read-request.ts';

/** An endpoint for one written request: it sends what was written, and its payload is the response as it came. */
export function rawEndpoint({ method, path, query, body }: WrittenRequest): AnyEndpoint {
  const known = endpointAt(method, path);
  return {
    summary: '',
    method,
    path,
    scope: known?.scope ?? 'none',
    query: objectWith(query),
    // An endpoint with a body gets one, though nothing is written for it.
    ...((body !== null || known?.body !== undefined) && { body: objectWith(body ?? {}) }),
    reply: {
      status: 200,
      ...(known?.reply.contentType && { contentType: known.reply.contentType }),
      schema: known?.reply.schema ?? z.unknown(),
      wrap: (payload) => payload,
      unwrap: (wire) => wire,
    },
    errors: known?.errors ?? [],
  };
}

/** The endpoint of the contract that a request is for; another version of the service may have more. */
export const endpointAt = (method: string, path: string): AnyEndpoint | undefined =>
  listEndpoints().find(({ endpoint }) => endpoint.method === method && endpoint.path === path)?.endpoint;

const objectWith = (fields: Readonly<Record<string, unknown>>) =>
  z.object(Object.fromEntries(Object.keys(fields).map((name) => [name, z.unknown()])));
