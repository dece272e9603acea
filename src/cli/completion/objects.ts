import type { Client } from '../../client/client.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import { readSettings } from '../config/settings.ts';
import { openContext } from '../context.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { sanitise } from '../output/terminal.ts';
import { isPlainName, usageInBrief } from '../output/words.ts';
import { nounOf, objects } from '../request/named-objects.ts';

export interface Candidate {
  readonly word: string;
  readonly about?: string;
  /** Names and e-mail addresses of the same object, which are offered before the word. */
  readonly names?: readonly string[];
  /** Whether the word is a name, which may have spaces. */
  readonly isName?: boolean;
}

/** The options on the command line, by their long form, with their values. */
export type GivenOptions = Readonly<Record<string, string>>;

/** How long TAB waits for a list of objects. */
const LIST_TIMEOUT_MS = 1_500;

/** How many objects of the service are offered at most. */
const MAX_OFFERED = 100;

/** The objects of the service that a field of the contract may name. Rejects if the service does not list them in time. */
export async function describeObjects(
  field: string,
  typed: string,
  given: GivenOptions,
  io: Io,
): Promise<readonly Candidate[]> {
  if (nounOf(field) === undefined && field !== 'licenseKey') return [];
  const flags = flagsFrom(given);
  const settings = { ...readSettings({ ...flags, quiet: true }, io), timeoutMs: LIST_TIMEOUT_MS, maxRetries: 0 };
  const context = openContext({ flags, settings, options: {}, io });
  try {
    const all = await candidatesOf(field, typed, given, await context.client());
    // The command line would take such a key for an option.
    return all
      .filter(({ word }) => !word.startsWith('-'))
      .map(({ word, about = '', names = [] }) => ({
        word,
        about: sanitise(about),
        // A name of two objects is not offered.
        names: names.filter((name) => isPlainName(name) && all.filter((one) => one.names?.includes(name)).length === 1),
      }));
  } finally {
    await context.close();
  }
}

async function candidatesOf(
  field: string,
  typed: string,
  { '--product': productId }: GivenOptions,
  client: Client,
): Promise<readonly Candidate[]> {
  const noun = nounOf(field);
  if (noun !== undefined) {
    const filter = noun === 'customer' ? filterOf(typed) : {};
    const all = await objects[noun].list(client, { ...filter, limit: MAX_OFFERED });
    return all.map(({ id, name, other, about = name }) => ({
      ...{ word: id, about },
      names: [name, other].flatMap((one) => one || []),
    }));
  }
  const { items } = await client.keys.list({ productId, page: 1, limit: MAX_OFFERED });
  // Masked keys are not offered: they name no key.
  return items
    .filter(({ key }) => !isMaskedKey(key))
    .map(({ key, activations, maxActivations, customerId, customerName }) => ({
      word: key,
      about: `${usageInBrief(activations, maxActivations)} ${customerName ?? customerId ?? ''}`.trim(),
    }));
}

/** Finds customers by the typed part of a name; lists all customers if the text may be the beginning of an id. */
const filterOf = (typed: string) => ('cus_'.startsWith(typed.slice(0, 4)) ? {} : { text: typed, page: 1 });

/** The flags that choose the service. */
function flagsFrom(given: GivenOptions): GlobalFlags {
  const { '--db': db, '--profile': profile, '--base-url': baseUrl, '--token-file': tokenFile } = given;
  // A token on stdin is for the command itself.
  return { db, profile: profile || undefined, baseUrl, tokenFile: tokenFile === '-' ? undefined : tokenFile };
}
