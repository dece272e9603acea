import { setTimeout as sleep } from 'node:timers/promises';
import { mutates } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { moveTestClock } from '../../contract/test-clock.ts';
import type { AppParts } from '../app-parts.ts';
import { errorFields } from '../error-fields.ts';
import { CUSTOMER_PATH, createCustomerPage } from '../pages/customer/handle.ts';
import { createPages } from '../pages/pages.ts';
import { mutate, readOnly } from './execute.ts';
import { splitTarget } from './input.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';
import { handleMove } from './move-clock.ts';
import { handleRequest } from './pipeline.ts';
import { json, refusal } from './respond.ts';
import { listRoutes } from './routes.ts';

/** The service: a response to each request. It never rejects. */
export type App = (request: HttpRequest) => Promise<HttpResponse>;

type Handler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** Builds the service: a handler for each endpoint of the contract, and the pages. */
export function createApp(parts: AppParts): App {
  const { testClock, log } = parts;
  const handlers = new Map<string, Handler>();
  const on = (method: string, path: string, handle: Handler) => handlers.set(`${method} ${path}`, handle);

  for (const route of listRoutes()) {
    const { method, path } = route.endpoint;
    const execute = mutates(route.endpoint) ? mutate : readOnly;
    on(method, path, (request) => handleRequest(parts, route, request, execute));
  }
  if (testClock !== undefined) on('POST', moveTestClock.path, (request) => handleMove(parts, testClock, request));
  for (const { path, get } of createPages()) on('GET', path, (request) => limited(parts, request, get));
  on('GET', '/health', () => json(200, { status: 'ok' }));
  on('GET', '/ready', () => readiness(parts));

  const customerPage = parts.page && createCustomerPage(parts, parts.page);

  return async (request) => {
    // Paths are compared as sent: another encoding is another path.
    const { path } = splitTarget(request.target);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const handle = path.startsWith(CUSTOMER_PATH) ? customerPage : handlers.get(`${method} ${path}`);
    try {
      if (handle !== undefined) return await handle(request);
    } catch (error) {
      log.error({ err: error }, 'request failed');
      return refusal(apiError('serverError'));
    }
    const allowed = METHODS.filter((other) => handlers.has(`${other} ${path}`));
    return refuseRoute(parts, request.method, allowed);
  };
}

/** Answers a page that needs no token, within the limit of its caller's address. */
async function limited({ limiter, addressOf }: AppParts, request: HttpRequest, get: Handler): Promise<HttpResponse> {
  const address = addressOf(request.peer, request.headers.get('x-forwarded-for'));
  const { allowed = true, headers } = (await limiter?.takePublic(address)) ?? {};
  const response = allowed ? await get(request) : refusal(apiError('rateLimited'));
  return { ...response, headers: { ...response.headers, ...headers } };
}

const READY_TIMEOUT_MS = 900;

/** Whether a change would work; answered within a second. */
async function readiness({ store, log }: AppParts): Promise<HttpResponse> {
  const given = new AbortController();
  try {
    const tooLate = sleep(READY_TIMEOUT_MS, undefined, { signal: given.signal });
    await Promise.race([store.check(), tooLate.then(() => Promise.reject(new Error('the database does not answer')))]);
    return json(200, { status: 'ready' });
  } catch (error) {
    log.error(errorFields(store, error), 'not ready');
    return refusal(apiError('unavailable'));
  } finally {
    given.abort();
  }
}

function refuseRoute({ newRequestId, log }: AppParts, method: string, allowed: readonly string[]): HttpResponse {
  const error = apiError(allowed.length === 0 ? 'routeNotFound' : 'methodNotAllowed');
  const requestId = newRequestId();
  // Not the path: a mistyped path may contain a key.
  log.info({ requestId, method, status: error.status, reason: error.reason }, 'request');
  return refusal(error, { 'X-Request-Id': requestId, ...(allowed.length > 0 && { Allow: allowed.join(', ') }) });
}

/** Methods that the contract may use, as they are listed in `Allow`. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
