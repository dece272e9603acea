import { join } from 'node:path';
import type { Client } from '../../client/client.ts';
import { ApiError } from '../../contract/errors.ts';
import { withLock } from '../config/files.ts';
import { UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import { journalFolder } from './journal.ts';
import { type Intent, type Line, openJournalFile } from './journal-file.ts';

/**
 * Finds the product of a key with the service. A key that is gone may be one that an earlier process deleted without an
 * answer: then the journal knows its product, and the same request can be repeated. Throws `UsageError` for a token that
 * may not look a key up.
 */
export async function findProductOfKey(client: Client, licenseKey: string, origin: string, io: Io): Promise<string> {
  try {
    const { license } = await client.keys.get({ licenseKey });
    return license.productId;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason === 'scopeMissing') throw notAllowed(error);
    const pending = error.status === 404 ? findInJournal(licenseKey, origin, io) : null;
    if (pending === null) throw error;
    return pending;
  }
}

const notAllowed = (cause: ApiError): UsageError =>
  new UsageError(
    '--product is required: this token may not look up the product of a key',
    [
      ['Give it:', '-P, --product ID'],
      ['Or set:', 'export LKM_PRODUCT=…'],
    ],
    { cause },
  );

/** The product that a request without a response named beside the key; null when there is none. */
function findInJournal(licenseKey: string, origin: string, io: Io): string | null {
  const lines = readJournal(io);
  const done = new Set(lines.flatMap((line) => (line.type === 'done' ? [`${line.run}/${line.row}`] : [])));
  for (const line of lines) {
    if (line.type !== 'row' || line.origin !== origin || done.has(`${line.run}/${line.row}`)) continue;
    const address = addressIn(line);
    if (address.get('licenseKey') === licenseKey) return address.get('productId') ?? null;
  }
  return null;
}

/** Its lines; none when it cannot be read: then what the service said stands. */
function readJournal(io: Io): readonly Line[] {
  const folder = journalFolder(io);
  try {
    const file = openJournalFile(join(folder, 'journal.jsonl'), io);
    return withLock(folder, io.uuid(), io, () => file.read().lines);
  } catch {
    return [];
  }
}

/** The texts of a request's query and body, by their names. */
function addressIn({ path, body }: Intent): Map<string, string> {
  const found = new Map(new URLSearchParams(path.split('?')[1] ?? ''));
  const sent: unknown = body === null ? null : JSON.parse(body);
  for (const [name, value] of Object.entries(Object(sent))) if (typeof value === 'string') found.set(name, value);
  return found;
}
