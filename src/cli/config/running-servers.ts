import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../io.ts';
import { isPrivateFolder, makePrivateFolder, stateDir, writeAtomically } from './files.ts';

/** A server of this user that runs on this machine. */
export interface RunningServer {
  readonly url: string;
  /** Without a password. */
  readonly db: string;
  /** Its certificate (PEM), where it has signed it itself. */
  readonly ca?: string | undefined;
  readonly host: string;
  readonly pid: number;
  /** See `Io.processStartTime`. */
  readonly startTime: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

export const serversFolder = (io: Io): string => join(stateDir(io), 'servers');

/** Records that this process serves a database, and removes the records of servers that have ended. */
export function recordServer({ url, db, ca }: Pick<RunningServer, 'url' | 'db' | 'ca'>, io: Io): void {
  const folder = serversFolder(io);
  makePrivateFolder(folder, io);
  for (const { file, server } of readRecords(io)) {
    if (server !== null && hasEnded(server, io)) rmSync(file, { force: true });
  }
  const { host, pid } = io;
  const server: RunningServer = { url, db, ca, host, pid, startTime: startTimeOf(io), startedAt: io.now() };
  writeAtomically(recordFile(io), `${JSON.stringify(server)}\n`, 0o600, io);
}

/** Removes the record that this process made. */
export function forgetServer(io: Io): void {
  rmSync(recordFile(io), { force: true });
}

/** The servers of this user that run on this machine, the newest first. */
export const runningServers = (io: Io): RunningServer[] =>
  readRecords(io)
    .flatMap(({ server }) => (server !== null && server.host === io.host && !hasEnded(server, io) ? [server] : []))
    .sort((one, other) => other.startedAt - one.startedAt);

const recordFile = (io: Io): string => join(serversFolder(io), `${io.pid}.${startTimeOf(io)}.json`);

const startTimeOf = (io: Io): string => io.processStartTime(io.pid) ?? '';

/** Whether a server of this machine has ended. Its pid may belong to another process now. */
const hasEnded = ({ host, pid, startTime }: RunningServer, io: Io): boolean =>
  host === io.host && io.processStartTime(pid) !== startTime;

function readRecords(io: Io): { readonly file: string; readonly server: RunningServer | null }[] {
  const folder = serversFolder(io);
  // A token is sent to the address in a record: no other user may be able to write it.
  if (!isPrivateFolder(folder, io)) return [];
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return names.map((name) => ({ file: join(folder, name), server: readRecord(join(folder, name)) }));
  } catch {
    return []; // it was removed meanwhile
  }
}

function readRecord(file: string): RunningServer | null {
  try {
    const stored: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(stored) ? stored : null;
  } catch {
    return null;
  }
}

const isRecord = (stored: unknown): stored is RunningServer =>
  typeof stored === 'object' &&
  stored !== null &&
  ['url', 'db', 'host', 'startTime'].every((name) => typeof Reflect.get(stored, name) === 'string') &&
  ['undefined', 'string'].includes(typeof Reflect.get(stored, 'ca')) &&
  ['pid', 'startedAt'].every((name) => Number.isSafeInteger(Reflect.get(stored, name)));
