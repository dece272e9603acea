import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { apiError } from '../../../contract/errors.ts';
import type { App } from '../app.ts';
import type { HttpResponse } from '../messages.ts';
import { refusal } from '../respond.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { readIncoming } from './incoming.ts';
import { send } from './outgoing.ts';

/**
 * Serves the messages of `node:http` by the app, those of one connection one after the other.
 *
 * Responses are written to the message itself: as objects of the Fetch API they would be slower, and would lose the
 * count of what a connection holds.
 */
export function createNodeListener(
  app: App,
  connections: Connections,
  { isHostAllowed, fail }: AdapterOptions,
): (message: IncomingMessage, response: ServerResponse) => void {
  const serve = getRequestListener(
    (fetchRequest, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      const connection = connections.find(incoming.socket);
      // The socket was closed while the request waited.
      if (connection === undefined) return RESPONSE_ALREADY_SENT;
      const respond = (response: HttpResponse): Response => {
        send(outgoing, response, connection.hold, fail);
        return RESPONSE_ALREADY_SENT;
      };
      const request = readIncoming(incoming, outgoing, connection, isHostAllowed);
      if (typeof request !== 'string') return app.fetch(fetchRequest, { request, respond });
      // Where such a request ends, and the next one begins, cannot be trusted.
      outgoing.shouldKeepAlive = false;
      return respond(refusal(apiError(request)));
    },
    { hostname: 'localhost', overrideGlobalObjects: false, autoCleanupIncoming: false, errorHandler: refuse },
  );
  return (message, response) => {
    const connection: Connection | undefined = connections.find(message.socket);
    if (connection === undefined) message.socket.destroy();
    else connection.enqueue(response, () => void serve(message, response));
  };
}

/** How messages are taken. */
interface AdapterOptions {
  /** Whether requests may be addressed to the host that they name. */
  isHostAllowed(host: string): boolean;
  /** Called when a response could not be produced to its end. */
  fail(error: unknown): void;
}

/** What cannot be made a request at all: its host or its path is none. */
function refuse(): Response {
  const { status, headers, body } = refusal(apiError('invalidParams'));
  return new Response(String(body), { status, headers });
}
