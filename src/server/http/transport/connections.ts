import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** The same for one address, unless it is that of a trusted proxy. */
  readonly maxConnectionsPerAddress: number;
  /** Bytes of request bodies and of unsent responses that are held for all connections together. */
  readonly maxBufferedBytes: number;
  /** A connection that takes none of the bytes that wait for it is closed after this time, at most after twice as long. */
  readonly stallMs: number;
}

/** The limits of a server for which nothing else is configured (decision 0025). */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 1_024,
  maxConnectionsPerAddress: 256,
  maxBufferedBytes: 128 * 1_048_576,
  stallMs: 12_000,
};

/** With so many requests of a connection no more are read, beyond those of the packet that has come. */
const MAX_TURNS = 65;

/** What a waiting request counts for among the bytes that are held: about what its objects take. */
const TURN_BYTES = 4_096;

/** How long a connection may send a request, or nothing, before it makes room for another one. */
const SLOW_MS = 2_000;

interface Turn {
  readonly response: ServerResponse;
  readonly work: () => void;
}

interface Connection {
  readonly ends: string;
  readonly address: string | undefined;
  /** Below TLS, the socket that carries it. */
  readonly socket: Socket;
  readonly turns: Turn[];
  /** Whether so many requests wait that no more are read; null if that has never been so. */
  isFull: boolean | null;
  /** Bytes that are held for the request in work, of its body and of what is not sent yet, and for those that wait. */
  heldBytes: number;
  /** How many bytes the other end had taken at the last sweep; null when none waited then. */
  takenBytes: number | null;
  /** When it last became idle: at its start, or with the end of a response. */
  idleSince: number;
}

export type Connections = ReturnType<typeof createConnections>;

/** Keeps the connections of a server within their limits. */
export function createConnections(limits: ConnectionLimits, isProxy: (address: string) => boolean) {
  /** By their ends, which a TLS socket has in common with the socket below it; the oldest comes first. */
  const connections = new Map<string, Connection>();
  let heldBytes = 0;
  let isDraining = false;

  function close(connection: Connection): void {
    connection.turns.length = 0;
    release(connection);
    connection.socket.destroy();
    if (connections.get(connection.ends) === connection) connections.delete(connection.ends);
  }

  function release(connection: Connection): void {
    const waiting = Math.max(connection.turns.length - 1, 0) * TURN_BYTES;
    heldBytes += waiting - connection.heldBytes;
    connection.heldBytes = waiting;
  }

  function hold(connection: Connection, bytes: number): void {
    connection.heldBytes += bytes;
    heldBytes += bytes;
    for (const other of connections.values()) {
      if (heldBytes <= limits.maxBufferedBytes) return;
      if (other !== connection && other.heldBytes > 0) close(other);
    }
  }

  /** Stops reading while too many requests wait. All of the one in work was read then: only the last one can be incomplete. */
  function pace(connection: Connection, socket: Socket): void {
    const wasFull = connection.isFull;
    const isFull = connection.turns.length >= MAX_TURNS;
    if (!isFull && wasFull === null) return;
    connection.isFull = isFull;
    // Node.js reads on with the body of the request in work.
    if (wasFull === null) socket.on('resume', () => pace(connection, socket));
    if (isFull) socket.pause();
    else if (wasFull) socket.resume();
  }

  /** Closes the oldest connection that is slow to send, where there is no room for one more. */
  function makeRoom(address: string): boolean {
    const all = [...connections.values()];
    const own = isProxy(address) ? [] : all.filter((connection) => connection.address === address);
    const isOwnFull = own.length >= limits.maxConnectionsPerAddress;
    if (!isOwnFull && all.length < limits.maxConnections) return true;
    const slow = (isOwnFull ? own : all).find(isSlow);
    if (slow === undefined) return false;
    close(slow);
    return true;
  }

  function start(connection: Connection): void {
    const [turn] = connection.turns;
    // A response may have closed the connection behind it.
    if (!turn?.response.req.socket.writable) return;
    if (isDraining) turn.response.shouldKeepAlive = false;
    turn.response.once('close', () => finish(connection, turn));
    turn.work();
  }

  function finish(connection: Connection, { response }: Turn): void {
    connection.turns.shift();
    connection.idleSince = performance.now();
    release(connection);
    if (isDraining) return void response.req.socket.destroySoon();
    pace(connection, response.req.socket);
    start(connection);
  }

  const sweeper = setInterval(() => {
    for (const connection of connections.values()) {
      const { bytesWritten = 0, writableLength = 0 } = connection.turns[0]?.response.req.socket ?? {};
      const takenBytes = writableLength > 0 ? bytesWritten - writableLength : null;
      if (takenBytes !== null && takenBytes === connection.takenBytes) close(connection);
      connection.takenBytes = takenBytes;
    }
  }, limits.stallMs).unref();

  const find = (socket: Socket): Connection | undefined => connections.get(endsOf(socket));

  return {
    /** Counts a new socket; when there are too many, returns false. */
    admit(socket: Socket): boolean {
      const { remoteAddress: address } = socket;
      if (address === undefined || !makeRoom(address)) return false;
      const ends = endsOf(socket);
      const counts = { isFull: null, heldBytes: 0, takenBytes: null, idleSince: performance.now() };
      const connection: Connection = { ends, address, socket, turns: [], ...counts };
      connections.set(ends, connection);
      socket.once('close', () => close(connection));
      return true;
    },
    current: (socket: Socket): ServerResponse | undefined => find(socket)?.turns[0]?.response,
    /**
     * Works for the requests of a connection one after the other, however many were sent at once: each when the response
     * before it has been sent. So no more than one response is held for a connection.
     */
    enqueue(response: ServerResponse, work: () => void): void {
      const connection = find(response.req.socket);
      if (connection === undefined) return void response.req.socket.destroy();
      connection.turns.push({ response, work });
      if (connection.turns.length === 1) return void start(connection);
      hold(connection, TURN_BYTES);
      pace(connection, response.req.socket);
    },
    /** Counts bytes that are held until the response in work is sent. Too many close the oldest connection that holds any. */
    hold(socket: Socket, bytes: number): void {
      const connection = find(socket);
      if (connection !== undefined) hold(connection, bytes);
    },
    heldBytes: () => heldBytes,
    /** Closes the connections that have no request in work, and lets the others end with theirs. */
    drain(): void {
      isDraining = true;
      for (const connection of connections.values()) {
        const [turn] = connection.turns;
        if (turn === undefined) close(connection);
        else if (!turn.response.headersSent) turn.response.shouldKeepAlive = false;
      }
    },
    closeAll(): void {
      clearInterval(sweeper);
      for (const connection of connections.values()) close(connection);
    },
  };
}

/** The ends of each socket, written once: every request asks for them several times. */
const knownEnds = new WeakMap<Socket, string>();

function endsOf(socket: Socket): string {
  const ends = knownEnds.get(socket) ?? `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
  knownEnds.set(socket, ends);
  return ends;
}

/** Whether it has been sending a request, or nothing at all, for too long when others wait. */
const isSlow = ({ turns: [turn], idleSince }: Connection): boolean =>
  !turn?.response.req.complete && performance.now() - idleSince > SLOW_MS;
