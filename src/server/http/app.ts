import { Hono } from 'hono';
import type { AppParts } from '../app-parts.ts';
import { failed, listHandlers, routeRefusal } from '../handlers.ts';
import { splitTarget } from './input.ts';
import type { Exchange } from './messages.ts';

/** The service as a Hono application: `app.fetch(request, exchange)`. It never rejects. */
export type App = Hono<Env>;

interface Env {
  readonly Bindings: Exchange;
}

/** Puts the handlers of the service on their paths. */
export function createApp(parts: AppParts): App {
  // The path is matched as it was sent: Hono itself would decode it first.
  const app: App = new Hono<Env>({
    getPath: (_, options) => splitTarget(options?.env?.request.target ?? '/').path,
  });
  for (const { method, path, handle } of listHandlers(parts)) {
    app.on(method, path, async ({ env }) => env.respond(await handle(env.request)));
  }
  app.notFound(({ env, req }) => env.respond(routeRefusal(parts, env.request.method, allowedMethods(app, req.path))));
  app.onError((error, { env }) => env.respond(failed(parts, error)));
  return app;
}

/** Methods that the contract may use, as they are listed in `Allow`. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function allowedMethods({ router }: App, path: string): string[] {
  return METHODS.filter((method) => router.match(method, path)[0].length > 0);
}
