import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** One connection that carries HTTP. */
export interface Connection {
  /** The address at its other end; undefined when it was gone before it could be read. */
  readonly address: string | undefined;
  /** The response in work. */
  readonly current: ServerResponse | null;
  /** Bytes that are held for the response in work: of the request's body, and of what is not sent yet. */
  readonly heldBytes: number;
  /** Whether it has been sending a request, or nothing at all, since the sweep before the last. */
  readonly isSlow: boolean;
  /** Starts the work for a request: at once, or when the responses before it have been sent. */
  enqueue(response: ServerResponse, work: () => void): void;
  hold(bytes: number): void;
  /** To be called at even intervals: for how many of them none of the waiting bytes have been taken. See `isSlow`. */
  countStalledSweeps(): number;
  /** Closes it now when nothing has ever come over it, else after the response in work. */
  drain(): void;
  destroy(): void;
}

interface Turn {
  readonly response: ServerResponse;
  readonly work: () => void;
}

/** Requests that may wait on one connection behind the one in work. One more closes it. */
const MAX_WAITING = 64;

/**
 * Takes the requests of a connection one after the other, however many were sent at once, and reads no further ones
 * while some wait. So no more than one response is held for a connection.
 *
 * @param onHold called with each change of the number of held bytes
 */
export function trackConnection(socket: Socket, onHold: (connection: Connection, bytes: number) => void): Connection {
  // Read now: after a reset it is unknown.
  const address = socket.remoteAddress;
  const waiting: Turn[] = [];
  let current: ServerResponse | null = null;
  let heldBytes = 0;
  let isPaused = false;
  let isDraining = false;
  let taken = 0;
  let stalledSweeps = 0;
  let slowSweeps = 0;
  /** How much had come when the last request was answered. */
  let readBefore = 0;

  function start({ response, work }: Turn): void {
    current = response;
    if (isDraining) response.shouldKeepAlive = false;
    response.on('close', finish);
    work();
  }

  function finish(): void {
    const finished = current;
    if (finished === null) return;
    current = null;
    readBefore = socket.bytesRead;
    release();
    if (isDraining || !finished.shouldKeepAlive) {
      waiting.length = 0;
      // The rest of a body that was not wanted is given time by its response.
      if (finished.req.complete) socket.destroySoon();
      return;
    }
    const next = waiting.shift();
    if (next !== undefined) start(next);
    else if (isPaused) {
      isPaused = false;
      socket.resume();
    }
  }

  function release(): void {
    if (heldBytes === 0) return;
    const bytes = heldBytes;
    heldBytes = 0;
    onHold(connection, -bytes);
  }

  const connection: Connection = {
    address,
    get current() {
      return current;
    },
    get heldBytes() {
      return heldBytes;
    },
    get isSlow() {
      return slowSweeps > 1;
    },
    enqueue(response, work) {
      if (current === null) return start({ response, work });
      if (waiting.length === MAX_WAITING) return connection.destroy();
      waiting.push({ response, work });
      isPaused = true;
      socket.pause();
    },
    hold(bytes) {
      if (socket.destroyed) return;
      heldBytes += bytes;
      onHold(connection, bytes);
    },
    countStalledSweeps() {
      const now = socket.bytesWritten - socket.writableLength;
      const isStalled = socket.writableLength > 0 && now === taken;
      taken = now;
      stalledSweeps = isStalled ? stalledSweeps + 1 : 0;
      const isSending = current === null ? readBefore === 0 || socket.bytesRead > readBefore : !current.req.complete;
      slowSweeps = isSending ? slowSweeps + 1 : 0;
      return stalledSweeps;
    },
    drain() {
      isDraining = true;
      if (socket.bytesRead === 0) socket.destroy();
      else if (current !== null && !current.headersSent) current.shouldKeepAlive = false;
    },
    destroy() {
      waiting.length = 0;
      release();
      socket.destroy();
    },
  };
  return connection;
}
