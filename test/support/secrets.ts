/** Secrets by their kind. */
export type Secrets = Readonly<Record<string, readonly string[]>>;

/** Kinds of secrets that a database stores on purpose. */
const kept = ['key', 'email', 'licence file', 'nonce', 'idempotency key'];

/** All secrets in the answers or the output of a run, and the `known` ones. Throws if a kind was not seen at all. */
export function secretsIn(text: string, known: Secrets): Secrets {
  const all = (pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, found = '']) => found))];
  const found: Secrets = {
    token: all(/(lkm_[a-z-]+_[0-9a-z]{59})/g),
    'secret of a session': all(/"sessionSecret": ?"([^"]+)"/g),
    nonce: all(/"nextNonce": ?"([^"]+)"/g),
    'secret of a webhook': all(/(whsec_[\w+/=]{20,})/g),
    'licence file': all(/"licenseToken\\*": ?\\*"[\w-]+\.[\w-]+\.([\w-]{40,})/g),
    key: all(/\b([0-9A-Z]{5}(?:-[0-9A-Z]{5}){4})\b/g),
  };
  const none = Object.entries(found).filter(([, secrets]) => secrets.length === 0);
  if (none.length > 0) throw new Error(`nothing of these was seen: ${none.map(([kind]) => kind).join()}`);
  const merged = Object.entries(known).map(([kind, secrets]) => [kind, [...(found[kind] ?? []), ...secrets]]);
  return { 'private key': ['PRIVATE KEY'], ...found, ...Object.fromEntries(merged) };
}

/** The leaked secrets: any in shown texts; in stored texts those that a database does not store on purpose. */
export function leaks(secrets: Secrets, shown: Readonly<Record<string, string>>, stored: typeof shown): string[][] {
  const among = (texts: typeof shown, kinds: readonly string[]) =>
    Object.entries(texts).flatMap(([name, text]) =>
      kinds.flatMap((kind) =>
        (secrets[kind] ?? []).filter((one) => text.includes(one)).map((one) => [name, kind, one]),
      ),
    );
  const kinds = Object.keys(secrets);
  return [
    ...among(shown, kinds),
    ...among(
      stored,
      kinds.filter((kind) => !kept.includes(kind)),
    ),
  ];
}
