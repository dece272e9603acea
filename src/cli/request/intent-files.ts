import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stateDir } from '../config/paths.ts';
import type { Io } from '../io.ts';
import { syncFolder, writeAtomically } from '../output/file.ts';

/** A request that is about to be sent: enough to make it again under the same key. */
export interface Intent {
  readonly version: 1;
  /** Base URL, absolute path of a database file, or address of a PostgreSQL database without its password. */
  readonly origin: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** The exact text. */
  readonly body: string | null;
  readonly idempotencyKey: string;
  /** The machine and the process that were first to send it. */
  readonly host: string;
  readonly pid: number;
  readonly createdAt: string;
}

export type IntendedRequest = Pick<Intent, 'origin' | 'method' | 'path' | 'body'>;

/** An intent that was found, and the process that it belongs to now. */
export interface FoundIntent {
  readonly file: string;
  readonly intent: Intent;
  readonly owner: { readonly pid: number; readonly birth: string };
}

/** The folder of the intents. A file is called after its owner, so that one `rename` hands it over. */
export const intentFolder = (io: Io): string => join(stateDir(io), 'intents');

/** `PID.BIRTH.UUID.json`. */
const fileName = /^(\d+)\.([^.]*)\.[0-9a-f-]+\.json$/;

const ownName = (io: Io): string =>
  join(intentFolder(io), `${io.pid}.${io.processStartTime(io.pid) ?? ''}.${io.uuid()}.json`);

/** Writes an intent so that it outlives this process and the machine; answers its file. Throws when it cannot. */
export function writeIntent(intent: Intent, io: Io): string {
  mkdirSync(intentFolder(io), { recursive: true, mode: 0o700 });
  const file = ownName(io);
  writeAtomically(file, `${JSON.stringify(intent)}\n`, 0o600, io);
  syncFolder(intentFolder(io));
  return file;
}

/** The intents of a request, oldest first. What is broken, or is no intent, is passed over. */
export function findIntents(request: IntendedRequest, io: Io): FoundIntent[] {
  return listFolder(intentFolder(io))
    .flatMap((name) => {
      const [, pid, birth = ''] = fileName.exec(name) ?? [];
      if (pid === undefined) return [];
      const file = join(intentFolder(io), name);
      const intent = readIntent(file, request);
      return intent === null ? [] : [{ file, intent, owner: { pid: Number(pid), birth } }];
    })
    .sort((one, other) => (one.intent.createdAt < other.intent.createdAt ? -1 : 1));
}

/** Makes an intent this process's own; null when another process was faster. */
export function takeIntent({ file }: FoundIntent, io: Io): string | null {
  const own = ownName(io);
  try {
    renameSync(file, own);
    return own;
  } catch {
    return null;
  }
}

/** Forgets intents. One that cannot be removed is answered by the service as the repetition it is. */
export function removeIntents(files: readonly string[]): void {
  for (const file of files) {
    try {
      rmSync(file, { force: true });
    } catch {
      // The folder was made read-only since.
    }
  }
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not there yet, or not to be read: then it cannot be written either, which is said
  }
}

function readIntent(file: string, request: IntendedRequest): Intent | null {
  try {
    const stored = JSON.parse(readFileSync(file, 'utf8')) as Intent;
    return isIntentOf(stored, request) ? stored : null;
  } catch {
    return null;
  }
}

const isIntentOf = (stored: Intent, { origin, method, path, body }: IntendedRequest): boolean =>
  stored.version === 1 &&
  stored.origin === origin &&
  stored.method === method &&
  stored.path === path &&
  stored.body === body &&
  /^[!-~]{1,255}$/.test(stored.idempotencyKey) &&
  typeof stored.host === 'string' &&
  !Number.isNaN(Date.parse(stored.createdAt));
