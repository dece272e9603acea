import type { Client } from '../../client/client.ts';
import { isMaskedKey } from '../../domain/license-key.ts';
import { readSettings } from '../config/settings.ts';
import { openContext } from '../context.ts';
import type { GlobalFlags } from '../global-options.ts';
import type { Io } from '../io.ts';
import { sanitise } from '../output/terminal.ts';
import { isPlainName, usageInBrief } from '../output/words.ts';

export interface Candidate {
  readonly word: string;
  readonly about?: string;
  /** Other words for the same: names, and e-mail addresses. They are offered before it. */
  readonly names?: readonly string[];
  /** Whether the word is a name, which may have spaces. */
  readonly isName?: boolean;
  /** The id alone, where an option stands before it in the word. */
  readonly id?: string;
}

/** The options on the command line, by their long form, with their values. */
export type GivenOptions = Readonly<Record<string, string>>;

/** How long TAB waits for a list of the service. */
const LIST_TIMEOUT_MS = 1_500;

/** How many objects of the service are offered at most. */
const MAX_OFFERED = 100;

/** The objects of the service that a field of the contract may name; none where the service does not list them in time. */
export async function describeObjects(
  field: string,
  typed: string,
  given: GivenOptions,
  io: Io,
): Promise<readonly Candidate[]> {
  const list = lists[field];
  if (list === undefined) return [];
  const flags = flagsFrom(given);
  const settings = { ...readSettings({ ...flags, quiet: true }, io), timeoutMs: LIST_TIMEOUT_MS, maxRetries: 0 };
  const context = openContext({ flags, settings, options: {}, io });
  try {
    const objects = await list(await context.client(), given, typed);
    // A key that looks like an option would be taken for one.
    return objects
      .filter(({ word }) => !word.startsWith('-'))
      .map(({ word, about = '', names = [] }) => ({
        word,
        about: sanitise(about),
        // Not what stands for two of them.
        names: names.filter(
          (name) => isPlainName(name) && objects.filter((one) => one.names?.includes(name)).length === 1,
        ),
      }));
  } finally {
    await context.close();
  }
}

type List = (client: Client, given: GivenOptions, typed: string) => Promise<readonly Candidate[]>;

const lists: Readonly<Record<string, List>> = {
  productId: async ({ products }) =>
    (await products.list({ limit: MAX_OFFERED })).items.map(({ id, name, slug }) => ({
      word: id,
      about: name,
      names: [name, ...(slug ? [slug] : [])],
    })),
  // As the caller may see them: a masked key names nothing, so it is not offered.
  licenseKey: async ({ keys }, { '--product': productId }) =>
    (await keys.list({ productId, page: 1, limit: MAX_OFFERED })).items
      .filter(({ key }) => !isMaskedKey(key))
      .map(({ key, activations, maxActivations, customerId }) => ({
        word: key,
        about: `${usageInBrief(activations, maxActivations)} ${customerId ?? ''}`.trim(),
      })),
  customerId: async ({ customers }, _, typed) =>
    (await customers.list({ ...filterOf(typed), limit: MAX_OFFERED })).items.map(({ id, name, email }) => ({
      word: id,
      about: email === null ? name : `${name} <${email}>`,
      names: [name, ...(email === null ? [] : [email])],
    })),
  tokenId: async ({ tokens }) =>
    (await tokens.list({ limit: MAX_OFFERED })).items
      .filter(({ revokedAt }) => revokedAt === null)
      .map(({ id, name }) => ({ word: id, about: name, names: [name] })),
  planId: async ({ plans }) =>
    (await plans.list()).items.map(({ id, name }) => ({ word: id, about: name, names: [name] })),
  sessionId: async ({ sessions }) =>
    (await sessions.list()).items.map(({ id, hostId, customerName }) => ({
      word: id,
      about: [hostId, customerName].filter(Boolean).join(' '),
      names: hostId ? [hostId] : [],
    })),
  webhookId: async ({ webhooks }) =>
    (await webhooks.list()).items.map(({ id, url }) => ({ word: id, about: url, names: [url] })),
};

/** Of many customers those that have what is typed of a name; all where it may be the beginning of an id. */
const filterOf = (typed: string) => ('cus_'.startsWith(typed.slice(0, 4)) ? {} : { text: typed, page: 1 });

/** The flags that say which service is meant. */
function flagsFrom(given: GivenOptions): GlobalFlags {
  const { '--db': db, '--profile': profile, '--base-url': baseUrl, '--token-file': tokenFile } = given;
  // A token on stdin is for the command itself.
  return { db, profile: profile || undefined, baseUrl, tokenFile: tokenFile === '-' ? undefined : tokenFile };
}
