import type { Socket } from 'node:net';
import { type Connection, trackConnection } from './connection.ts';

/** What connections may use of the server. */
export interface ConnectionLimits {
  /** Connections that are open at one time. */
  readonly maxConnections: number;
  /** The same for one address, unless it is that of a trusted proxy. */
  readonly maxConnectionsPerAddress: number;
  /** Bytes of request bodies and of unsent responses that are held for all connections together. */
  readonly maxBufferedBytes: number;
  /** How long a connection may take none of the bytes that wait for it. */
  readonly stallMs: number;
}

/** The limits of a server for which nothing else is configured (decision 0025). */
export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  maxConnections: 1_024,
  maxConnectionsPerAddress: 256,
  maxBufferedBytes: 128 * 1_048_576,
  stallMs: 12_000,
};

/** The open connections of one server. */
export interface Connections {
  /** Counts a new socket; when there are too many, returns false. */
  admit(socket: Socket): boolean;
  /** Makes an admitted socket, or the TLS socket on top of it, a connection that carries HTTP. */
  open(socket: Socket): void;
  find(socket: Socket): Connection | undefined;
  /** Closes what has never sent anything, and lets the others end with the response in work. */
  drain(): void;
  /** Closes every socket. */
  destroyAll(): void;
}

/** Keeps the connections of a server within their limits. */
export function createConnections(limits: ConnectionLimits, isProxy: (address: string) => boolean): Connections {
  const sockets = new Set<Socket>();
  const perAddress = new Map<string, number>();
  /** Admitted and not open yet, by their remote ends: their TLS handshake may never be finished. */
  const unopened = new Map<string, { readonly socket: Socket; sweeps: number }>();
  const connections = new Map<Socket, Connection>();
  /** Those that hold bytes; the one that has held them longest comes first. */
  const holders = new Set<Connection>();
  let heldBytes = 0;

  function hold(connection: Connection, bytes: number): void {
    heldBytes += bytes;
    if (connection.heldBytes === 0) holders.delete(connection);
    else holders.add(connection);
    for (const holder of holders) {
      if (heldBytes <= limits.maxBufferedBytes || holders.size === 1) return;
      holder.destroy();
    }
  }

  const sweepMs = Math.min(1_000, limits.stallMs / 2);
  const sweeper = setInterval(() => {
    for (const one of unopened.values()) one.sweeps += 1;
    for (const connection of connections.values()) {
      if (connection.countStalledSweeps() * sweepMs >= limits.stallMs) connection.destroy();
    }
  }, sweepMs).unref();

  /** Closes the oldest connection that is slow to begin, else to send, of any address or of one. */
  function makeRoom(address?: string): boolean {
    const isMeant = (other: string | undefined): boolean => address === undefined || other === address;
    for (const [end, { socket, sweeps }] of unopened) {
      if (sweeps < 2 || !isMeant(socket.remoteAddress)) continue;
      unopened.delete(end);
      socket.destroy();
      return true;
    }
    for (const connection of connections.values()) {
      if (!connection.isSlow || !isMeant(connection.address)) continue;
      connection.destroy();
      return true;
    }
    return false;
  }

  /** Whether there is a place for one more from an address, or can be made. One of its own is made from its own. */
  function hasRoom(address: string | undefined): boolean {
    const isOwnFull =
      address !== undefined && !isProxy(address) && (perAddress.get(address) ?? 0) >= limits.maxConnectionsPerAddress;
    if (isOwnFull) return makeRoom(address);
    return sockets.size < limits.maxConnections || makeRoom();
  }

  return {
    admit(socket) {
      const address = socket.remoteAddress;
      if (!hasRoom(address)) return false;
      const end = remoteEnd(socket);
      sockets.add(socket);
      unopened.set(end, { socket, sweeps: 0 });
      if (address !== undefined) perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
      socket.once('close', () => {
        sockets.delete(socket);
        if (unopened.get(end)?.socket === socket) unopened.delete(end);
        if (address === undefined) return;
        const left = (perAddress.get(address) ?? 1) - 1;
        if (left > 0) perAddress.set(address, left);
        else perAddress.delete(address);
      });
      return true;
    },
    open(socket) {
      unopened.delete(remoteEnd(socket));
      const connection = trackConnection(socket, hold);
      connections.set(socket, connection);
      socket.once('close', () => {
        connections.delete(socket);
        connection.destroy();
      });
    },
    find: (socket) => connections.get(socket),
    drain() {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      for (const connection of connections.values()) connection.drain();
    },
    destroyAll() {
      clearInterval(sweeper);
      for (const connection of connections.values()) connection.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** What a socket and the TLS socket on top of it have in common. */
const remoteEnd = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
