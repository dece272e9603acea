import { type Context, Hono } from 'hono';
import { mutates } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { streamEvents } from '../../contract/event-stream.ts';
import { moveTestClock } from '../../contract/test-clock.ts';
import { pages } from '../pages/pages.ts';
import { observe } from '../telemetry/observe.ts';
import { answerStream } from './events/stream.ts';
import { type AppParts, mutate, readOnly } from './execute.ts';
import { splitTarget } from './input.ts';
import type { Exchange, HttpResponse } from './messages.ts';
import { answer } from './pipeline.ts';
import { json, jsonText, refusal } from './respond.ts';
import { listRoutes } from './routes.ts';
import { answerMove } from './test-clock.ts';

/** The service as a Hono application: `app.fetch(request, exchange)`. It never rejects. */
export type App = Hono<Env>;

interface Env {
  readonly Bindings: Exchange;
}

/** Puts the service together: a handler for each endpoint of the contract, and the pages beside them. */
export function createApp(parts: AppParts): App {
  // The path is matched as it was sent: Hono itself would decode it first.
  const app: App = new Hono<Env>({
    getPath: (_, options) => splitTarget(options?.env?.request.target ?? '/').path,
  });
  const on = (method: string, path: string, handle: (exchange: Exchange) => HttpResponse | Promise<HttpResponse>) => {
    app.on(method, path, async ({ env }) => env.respond(await handle(env)));
  };

  for (const route of listRoutes()) {
    const execute = mutates(route.endpoint) ? mutate : readOnly;
    on(route.endpoint.method, route.endpoint.path, ({ request }) =>
      observe(parts.telemetry, route.endpoint, request, () => answer(parts, route, request, execute)),
    );
  }
  on(streamEvents.method, streamEvents.path, ({ request }) =>
    observe(parts.telemetry, streamEvents, request, () => answerStream(parts, request)),
  );
  const { testClock } = parts;
  if (testClock !== undefined) {
    on(moveTestClock.method, moveTestClock.path, ({ request }) => answerMove(parts, testClock, request));
  }
  for (const { path, get } of pages) on('GET', path, ({ request }) => get(request));
  on('GET', '/health', () => json(200, { status: 'ok' }));
  on('GET', '/ready', () => readiness(parts));
  let openApi: Promise<string> | undefined;
  on('GET', '/openapi.json', async () => {
    openApi ??= printOpenApi();
    return jsonText(200, await openApi);
  });

  app.notFound((context) => context.env.respond(nothingHere(parts, context, allowedMethods(app, context.req.path))));
  app.onError((error, { env }) => {
    parts.log.error({ err: error }, 'request failed');
    return env.respond(refusal(apiError('serverError')));
  });
  return app;
}

/** The document takes 40 ms to make, and few processes are ever asked for it. */
async function printOpenApi(): Promise<string> {
  const { toOpenApi } = await import('../../contract/openapi/openapi.ts');
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

/** Methods that the contract may use, as they are listed in `Allow`. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function allowedMethods({ router }: App, path: string): string[] {
  return METHODS.filter((method) => router.match(method, path)[0].length > 0);
}

function nothingHere(parts: AppParts, { env }: Context<Env>, allowed: readonly string[]): HttpResponse {
  const error = apiError(allowed.length === 0 ? 'routeNotFound' : 'methodNotAllowed');
  const requestId = parts.newRequestId();
  // Without the path: a mistyped one may contain a key.
  parts.log.info({ requestId, method: env.request.method, status: error.status, reason: error.reason }, 'request');
  return refusal(error, { 'X-Request-Id': requestId, ...(allowed.length > 0 ? { Allow: allowed.join(', ') } : {}) });
}
