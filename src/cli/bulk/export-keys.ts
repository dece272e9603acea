import type { Client } from '../../client/client.ts';
import { walkList } from '../../client/lists.ts';
import { ApiError } from '../../contract/errors.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import { UsageError } from '../failure/errors.ts';
import { csvLine, type ExportedKey, exportedKey, type Owner, ownMetadata } from './exported-key.ts';

/** Which keys, and in which form. */
interface Export {
  readonly productId: string | undefined;
  readonly customerId: string | undefined;
  readonly form: 'csv' | 'json' | 'jsonl';
}

/** Keys that are written together, and whose devices and customers are asked for at a time. */
const PART = 16;

/**
 * Writes every key with its customer and its devices, in the form that `keys import` reads, newest first. Only a part of
 * the list is in memory; `beforePart` gets the keys of each part before it is written. CSV goes through the list twice: the
 * first time for the names of metadata, which are columns.
 */
export async function* exportKeys(
  client: Client,
  { productId, customerId, form }: Export,
  beforePart: (keys: readonly string[]) => Promise<void>,
): AsyncGenerator<string> {
  const keys = () => walkList(client.keys.list, { productId, customerId });
  const names = form === 'csv' ? await metadataNames(keys()) : [];
  const ownerOf = rememberOwners(client);
  if (form === 'csv') yield await csvLine(null, names);
  if (form === 'json') yield '[';
  let separator = '\n';
  for await (const part of inParts(keys())) {
    const completed = await Promise.all(part.map((license) => complete(client, license, ownerOf)));
    const found = completed.filter((key) => key !== null);
    const lines: string[] = [];
    for (const key of found) {
      if (form === 'csv') lines.push(await csvLine(key, names));
      else if (form === 'jsonl') lines.push(`${JSON.stringify(key)}\n`);
      else lines.push(`${separator}${JSON.stringify(key)}`);
      separator = ',\n';
    }
    await beforePart(found.map(({ key }) => key));
    yield lines.join('');
  }
  if (form === 'json') yield '\n]\n';
}

/** The names of metadata that have texts, in order. */
async function metadataNames(keys: AsyncIterable<ListedLicense>): Promise<string[]> {
  const names = new Set<string>();
  for await (const { metadata = {} } of keys)
    for (const name of Object.keys(ownMetadata(metadata).texts)) names.add(name);
  return [...names].sort();
}

async function* inParts(keys: AsyncIterable<ListedLicense>): AsyncGenerator<readonly ListedLicense[]> {
  let part: ListedLicense[] = [];
  for await (const key of keys) {
    if (part.push(key) < PART) continue;
    yield part;
    part = [];
  }
  yield part;
}

/** A key with what the list does not show; null when it has been deleted meanwhile. */
async function complete(
  client: Client,
  license: ListedLicense,
  ownerOf: (id: string) => Promise<Owner | null>,
): Promise<ExportedKey | null> {
  const { key, productId, customerId, activations } = license;
  if (isMaskedKey(key)) {
    throw new UsageError('this token sees keys masked, and a masked key cannot be imported', [
      'Export with an admin token, or one that holds license:reveal.',
    ]);
  }
  if (activations === 0) return exportedKey(license, customerId == null ? null : await ownerOf(customerId), []);
  const found = await unlessGone(client.keys.get({ productId, licenseKey: key }), 'licenseNotFound');
  return found && exportedKey(license, found.customer, found.license.devices);
}

const MAX_OWNERS = 10_000;

/** Asks for each customer once, as long as not too many others were asked for since. */
function rememberOwners(client: Client): (id: string) => Promise<Owner | null> {
  const known = new Map<string, Promise<Owner | null>>();
  return (customerId) => {
    if (known.size > MAX_OWNERS) known.clear();
    const owner = known.get(customerId) ?? unlessGone(client.customers.get({ customerId }), 'customerNotFound');
    known.set(customerId, owner);
    return owner;
  };
}

/** Null where the service answers that something is not there. */
async function unlessGone<T>(found: Promise<T>, reason: ApiError['reason']): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && error.reason === reason) return null;
    throw error;
  }
}
