import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { apiError, type Reason } from '../../../contract/errors.ts';
import { refusal } from '../respond.ts';

/** How long a refused connection may go on sending before it is closed, in milliseconds. */
const LINGER_MS = 1_000;

/** What Node.js found wrong below the application. All else is a malformed request. */
const reasons: Readonly<Record<string, Reason>> = {
  HPE_HEADER_OVERFLOW: 'headersTooLarge',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'bodyTooLarge',
  ERR_HTTP_REQUEST_TIMEOUT: 'requestTimeout',
};

/** Why a connection is refused that sent no valid request, or none in time. */
export function reasonOf(error: NodeJS.ErrnoException): Reason {
  return reasons[error.code ?? ''] ?? 'invalidParams';
}

/**
 * Writes a refusal where there is no request to respond to, and closes the connection.
 *
 * @param lingerMs how long it may go on sending before that, so that it gets to read the refusal
 */
export function refuseConnection(socket: Socket, reason: Reason, lingerMs = LINGER_MS): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = refusal(apiError(reason));
  const lines = Object.entries({ ...headers, Connection: 'close', 'Content-Length': Buffer.byteLength(String(body)) });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
