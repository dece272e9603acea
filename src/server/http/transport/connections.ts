import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** The most connections of one address, unless it is a trusted proxy. */
  readonly maxConnectionsPerAddress: number;
  /**
   * A connection that takes none of its waiting bytes is closed after this time, in milliseconds, or at most twice this
   * time.
   */
  readonly stallMs: number;
}

/** The default limits (decision 0012). */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 1_024,
  maxConnectionsPerAddress: 256,
  stallMs: 12_000,
};

/** The most unanswered requests of a connection: then no further packet is read from it. */
const MAX_TURNS = 65;

interface Turn {
  readonly response: ServerResponse;
  readonly work: () => void;
}

interface Connection {
  readonly address: string;
  /** Below TLS, the socket that carries it. */
  readonly socket: Socket;
  readonly turns: Turn[];
  /** Whether reading stopped for too many requests; null if it never did. */
  isFull: boolean | null;
  /** How many bytes the client had taken at the last sweep; null when no bytes waited then. */
  takenBytes: number | null;
}

export type Connections = ReturnType<typeof createConnections>;

/** Runs the requests of each connection one at a time, and closes connections that read nothing. */
export function createConnections(
  { maxConnectionsPerAddress, stallMs }: ConnectionLimits,
  isProxy: (address: string) => boolean,
) {
  /** Connections by their two addresses and ports, which a TLS socket shares with the socket below it. */
  const connections = new Map<string, Connection>();
  let isDraining = false;

  /** Stops reading while too many requests wait. */
  function pace(connection: Connection, socket: Socket): void {
    const wasFull = connection.isFull;
    const isFull = connection.turns.length >= MAX_TURNS;
    if (!isFull && wasFull === null) return;
    connection.isFull = isFull;
    // Node.js resumes the socket to read the body of the request in work.
    if (wasFull === null) socket.on('resume', () => pace(connection, socket));
    if (isFull) socket.pause();
    else if (wasFull) socket.resume();
  }

  function start({ turns: [turn] }: Connection): void {
    // The response may have closed the connection.
    if (!turn?.response.req.socket.writable) return;
    if (isDraining) turn.response.shouldKeepAlive = false;
    turn.response.once('close', () => finish(turn));
    turn.work();
  }

  function finish({ response }: Turn): void {
    const { socket } = response.req;
    const connection = find(socket);
    if (connection === undefined) return;
    connection.turns.shift();
    if (isDraining) return void socket.destroySoon();
    pace(connection, socket);
    start(connection);
  }

  const sweeper = setInterval(() => {
    for (const connection of connections.values()) {
      const { bytesWritten = 0, writableLength = 0 } = connection.turns[0]?.response.req.socket ?? {};
      const takenBytes = writableLength > 0 ? bytesWritten - writableLength : null;
      if (takenBytes !== null && takenBytes === connection.takenBytes) connection.socket.destroy();
      connection.takenBytes = takenBytes;
    }
  }, stallMs).unref();

  const find = (socket: Socket): Connection | undefined => connections.get(endsOf(socket));

  function isCrowd(address: string): boolean {
    const own = [...connections.values()].filter((connection) => connection.address === address);
    return own.length >= maxConnectionsPerAddress && !isProxy(address);
  }

  return {
    /** Counts a new socket; returns false when its address has too many. */
    admit(socket: Socket): boolean {
      const { remoteAddress: address } = socket;
      if (address === undefined || isCrowd(address)) return false;
      const ends = endsOf(socket);
      const connection: Connection = { address, socket, turns: [], isFull: null, takenBytes: null };
      connections.set(ends, connection);
      socket.once('close', () => connections.get(ends) === connection && connections.delete(ends));
      return true;
    },
    current: (socket: Socket): ServerResponse | undefined => find(socket)?.turns[0]?.response,
    /** Runs `work` when the responses before it have been sent: a connection holds one response at a time. */
    enqueue(response: ServerResponse, work: () => void): void {
      const { socket } = response.req;
      const connection = find(socket);
      if (connection === undefined) return void socket.destroy();
      connection.turns.push({ response, work });
      if (connection.turns.length === 1) start(connection);
      else pace(connection, socket);
    },
    /** Closes idle connections; busy connections close after their request. */
    drain(): void {
      isDraining = true;
      for (const { socket, turns } of connections.values()) {
        const [turn] = turns;
        if (turn === undefined) socket.destroy();
        else if (!turn.response.headersSent) turn.response.shouldKeepAlive = false;
      }
    },
    closeAll(): void {
      clearInterval(sweeper);
      for (const { socket } of connections.values()) socket.destroy();
    },
  };
}

/** The cached key of each socket, which every request needs several times. */
const knownEnds = new WeakMap<Socket, string>();

function endsOf(socket: Socket): string {
  const ends = knownEnds.get(socket) ?? `${socket.remoteAddress} ${socket.remotePort} ${socket.localAddress}`;
  knownEnds.set(socket, ends);
  return ends;
}
