import { Hono } from 'hono';
import { refuse } from '../contract/errors.ts';
import { toOpenApi } from '../contract/openapi.ts';
import { type AppParts, answer, type Env, type Wire } from './pipeline.ts';
import { json, jsonText, refusal } from './respond.ts';
import { listRoutes } from './routes.ts';

/** The service as one function from request to answer; over HTTP it is told what came over the wire too. */
export type App = (request: Request, wire?: Wire) => Promise<Response>;

/** Puts the service together: a route for each endpoint of the contract, and the few pages beside it. */
export function createApp(parts: AppParts): App {
  const app = new Hono<Env>();
  const routes = listRoutes();
  for (const route of routes) {
    const { method, path } = route.endpoint;
    app.on(method, path, (exchange) => answer(parts, route, exchange));
  }

  app.get('/health', () => json(200, { status: 'ok' }));
  app.get('/ready', async () => {
    try {
      await parts.store.rows.accounts.oldest();
      return json(200, { status: 'ready' });
    } catch (error) {
      parts.log.error({ err: error }, 'not ready');
      return refusal(refuse('unavailable'));
    }
  });
  const openApi = JSON.stringify(toOpenApi());
  app.get('/openapi.json', () => jsonText(200, openApi));

  app.notFound(({ req }) => {
    const methods = routes.filter(({ endpoint }) => endpoint.path === req.path).map(({ endpoint }) => endpoint.method);
    const error = refuse(methods.length === 0 ? 'routeNotFound' : 'methodNotAllowed');
    const requestId = parts.newRequestId();
    // Not the path: whoever mistypes one may have put a key in it.
    parts.log.info({ requestId, method: req.method, status: error.status, reason: error.reason }, 'request');
    return refusal(error, { 'X-Request-Id': requestId, ...(methods.length > 0 ? { Allow: methods.join(', ') } : {}) });
  });
  app.onError((error) => {
    parts.log.error({ err: error }, 'request failed');
    return refusal(refuse('serverError'));
  });
  return async (request, wire = {}) => app.fetch(request, wire);
}
