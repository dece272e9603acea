import { mutates } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import { streamEvents } from '../contract/event-stream.ts';
import { moveTestClock } from '../contract/test-clock.ts';
import type { AppParts } from './app-parts.ts';
import { handleStream } from './http/events/stream.ts';
import { mutate, readOnly } from './http/execute.ts';
import type { HttpRequest, HttpResponse } from './http/messages.ts';
import { handleRequest } from './http/pipeline.ts';
import { json, jsonText, refusal } from './http/respond.ts';
import { listRoutes } from './http/routes.ts';
import { handleMove } from './http/test-clock.ts';
import { pages } from './pages/pages.ts';

/** What answers the requests of one method and path. */
export interface Handler {
  readonly method: string;
  readonly path: string;
  handle(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
}

/** Puts the service together: a handler for each endpoint of the contract, and the pages beside them. */
export function listHandlers(parts: AppParts): readonly Handler[] {
  const { testClock } = parts;
  let openApi: Promise<string> | undefined;
  return [
    ...listRoutes().map((route): Handler => {
      const { endpoint } = route;
      const execute = mutates(endpoint) ? mutate : readOnly;
      return on(endpoint, (request) => handleRequest(parts, route, request, execute));
    }),
    on(streamEvents, (request) => handleStream(parts, request)),
    ...(testClock === undefined ? [] : [on(moveTestClock, (request) => handleMove(parts, testClock, request))]),
    ...pages.map(({ path, get }) => on({ method: 'GET', path }, get)),
    on({ method: 'GET', path: '/health' }, () => json(200, { status: 'ok' })),
    on({ method: 'GET', path: '/ready' }, () => readiness(parts)),
    on({ method: 'GET', path: '/openapi.json' }, async () => {
      openApi ??= printOpenApi();
      return jsonText(200, await openApi);
    }),
  ];
}

const on = ({ method, path }: Pick<Handler, 'method' | 'path'>, handle: Handler['handle']): Handler => ({
  method,
  path,
  handle,
});

/** The document takes 40 ms to make, and few processes are ever asked for it. */
async function printOpenApi(): Promise<string> {
  const { toOpenApi } = await import('../contract/openapi/openapi.ts');
  return JSON.stringify(toOpenApi());
}

async function readiness({ store, log }: AppParts): Promise<HttpResponse> {
  try {
    await store.check();
    return json(200, { status: 'ready' });
  } catch (error) {
    log.error({ err: error }, 'not ready');
    return refusal(apiError('unavailable'));
  }
}

/** The response where no handler has the path, or none of those that have it the method. */
export function routeRefusal(parts: AppParts, method: string, allowed: readonly string[]): HttpResponse {
  const error = apiError(allowed.length === 0 ? 'routeNotFound' : 'methodNotAllowed');
  const requestId = parts.newRequestId();
  // Without the path: a mistyped one may contain a key.
  parts.log.info({ requestId, method, status: error.status, reason: error.reason }, 'request');
  return refusal(error, { 'X-Request-Id': requestId, ...(allowed.length > 0 ? { Allow: allowed.join(', ') } : {}) });
}

/** The response to a request whose handler threw. */
export function failed({ log }: AppParts, error: unknown): HttpResponse {
  log.error({ err: error }, 'request failed');
  return refusal(apiError('serverError'));
}
