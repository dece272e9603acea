import type { Client } from '../../client/client.ts';
import { walkList } from '../../client/lists.ts';
import { ApiError } from '../../contract/errors.ts';
import type { ListedLicense } from '../../contract/keys/lists.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import { UsageError } from '../failure/errors.ts';
import { csvLine, type ExportedKey, exportedKey, type Owner, ownMetadata } from './exported-key.ts';

/** Which keys, and in which form. */
export interface Export {
  readonly productId: string | undefined;
  readonly customerId: string | undefined;
  readonly form: 'csv' | 'json' | 'jsonl';
}

/** Keys whose devices and customers are asked for at a time. */
const CONCURRENCY = 8;
/** Lines of one part. */
const PART = 200;

/**
 * Writes every key with its customer and its devices, in the form that `keys import` reads, newest first. Only a part of
 * the list is in memory; `beforePart` gets the keys of each part before it is written. CSV goes through the list twice: the first time for the names of metadata, which are columns.
 */
export async function* exportKeys(
  client: Client,
  which: Export,
  beforePart: (keys: readonly string[]) => Promise<void>,
): AsyncGenerator<string> {
  const { productId, customerId, form } = which;
  const keys = () => walkList(client.keys.list, { productId, customerId });
  const names = form === 'csv' ? await metadataNames(keys()) : [];
  const owners = rememberOwners(client);
  if (form === 'csv') yield await csvLine(null, names);
  if (form === 'json') yield '[';
  let isFirst = true;
  for await (const part of inParts(keys(), PART)) {
    const lines: string[] = [];
    const exported: string[] = [];
    for await (const key of inOrder(part, CONCURRENCY, (license) => completed(client, license, owners))) {
      if (key === null) continue;
      const json = form === 'csv' ? '' : JSON.stringify(key);
      lines.push(
        form === 'csv' ? await csvLine(key, names) : form === 'json' ? `${isFirst ? '' : ','}\n${json}` : `${json}\n`,
      );
      isFirst = false;
      exported.push(key.key);
    }
    await beforePart(exported);
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

/** A key with what the list does not show; null when it has been deleted meanwhile. */
async function completed(
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
  try {
    const { license: whole, customer } = await client.keys.get({ productId, licenseKey: key });
    return exportedKey(license, customer, whole.devices);
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'licenseNotFound') return null;
    throw error;
  }
}

const MAX_OWNERS = 10_000;

/** Asks for each customer once, as long as not too many others were asked for since. */
function rememberOwners(client: Client): (id: string) => Promise<Owner | null> {
  const known = new Map<string, Promise<Owner | null>>();
  return (customerId) => {
    const found = known.get(customerId) ?? findOwner(client, customerId);
    known.delete(customerId);
    known.set(customerId, found);
    const [oldest] = known.keys();
    if (known.size > MAX_OWNERS && oldest !== undefined) known.delete(oldest);
    return found;
  };
}

async function findOwner(client: Client, customerId: string): Promise<Owner | null> {
  try {
    return await client.customers.get({ customerId });
  } catch (error) {
    if (error instanceof ApiError && error.reason === 'customerNotFound') return null;
    throw error;
  }
}

async function* inParts<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[]> {
  let part: T[] = [];
  for await (const item of items) {
    if (part.push(item) < size) continue;
    yield part;
    part = [];
  }
  yield part;
}

/** What becomes of each item, in their order, while several are worked on. */
async function* inOrder<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  for (const [at, item] of items.entries()) {
    const promise = work(item);
    // Reported when its turn comes.
    promise.catch(() => {});
    begun.push(promise);
    if (begun.length < limit && at < items.length - 1) continue;
    const next = begun.shift();
    if (next !== undefined) yield await next;
  }
  for (const promise of begun) yield await promise;
}
