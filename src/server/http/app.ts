import { apiError } from '../../contract/errors.ts';
import { toOpenApi } from '../../contract/openapi.ts';
import { type HttpRequest, type HttpResponse, splitTarget } from './messages.ts';
import { type AppParts, answer } from './pipeline.ts';
import { json, jsonText, refusal } from './respond.ts';
import { listRoutes } from './routes.ts';

/** The service as one function. It never rejects: what fails in it is an answer too. */
export type App = (received: HttpRequest) => Promise<HttpResponse>;

type Handler = (received: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** Puts the service together: a handler for each endpoint of the contract, and the few pages beside it. */
export function createApp(parts: AppParts): App {
  /** By path, then by method. Paths have no parameters, so each is looked up whole. */
  const handlers = new Map<string, Map<string, Handler>>();
  const on = (method: string, path: string, handler: Handler) => {
    const methods = handlers.get(path) ?? new Map<string, Handler>();
    handlers.set(path, methods.set(method, handler));
  };

  for (const route of listRoutes()) {
    on(route.endpoint.method, route.endpoint.path, (received) => answer(parts, route, received));
  }
  on('GET', '/health', () => json(200, { status: 'ok' }));
  on('GET', '/ready', async () => {
    try {
      await parts.store.check();
      return json(200, { status: 'ready' });
    } catch (error) {
      parts.log.error({ err: error }, 'not ready');
      return refusal(apiError('unavailable'));
    }
  });
  const openApi = JSON.stringify(toOpenApi());
  on('GET', '/openapi.json', () => jsonText(200, openApi));

  function nothing({ method }: HttpRequest, allowed: readonly string[]): HttpResponse {
    const error = apiError(allowed.length === 0 ? 'routeNotFound' : 'methodNotAllowed');
    const requestId = parts.newRequestId();
    // Not the path: whoever mistypes one may have put a key in it.
    parts.log.info({ requestId, method, status: error.status, reason: error.reason }, 'request');
    return refusal(error, { 'X-Request-Id': requestId, ...(allowed.length > 0 ? { Allow: allowed.join(', ') } : {}) });
  }

  return async (received) => {
    const methods = handlers.get(splitTarget(received.target).path);
    // HEAD is answered as GET; whoever sends the answer leaves its body out.
    const handler = methods?.get(received.method === 'HEAD' ? 'GET' : received.method);
    try {
      return await (handler?.(received) ?? nothing(received, [...(methods?.keys() ?? [])]));
    } catch (error) {
      parts.log.error({ err: error }, 'request failed');
      return refusal(apiError('serverError'));
    }
  };
}
