import type { Client } from '../../client/client.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { CommandResult, Field } from '../output/result.ts';
import { moment } from '../output/words.ts';
import { seqBefore } from './events-and-audit/feed.ts';
import { actorName } from './events-and-audit/lines.ts';
import { listOf } from './results.ts';

export const kinds = ['token', 'product', 'plan'] as const;
type Kind = (typeof kinds)[number];

/** Counts keys issued since an instant by token, product or plan, the largest number first. */
export async function countIssued(
  client: Client,
  kind: Kind,
  { since, productId }: { readonly since: Instant; readonly productId: string | undefined },
): Promise<CommandResult> {
  const counts = new Map<string, number>();
  const names = kind === 'token' ? byToken(client, since, productId) : byTerms(client, kind, since, productId);
  for await (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const rows = [...counts].map(([name, issued]) => ({ name, issued })).toSorted((a, b) => b.issued - a.issued);
  const fields: readonly Field[] = [
    { name: 'name', label: kind },
    { name: 'issued', isNumber: true },
  ];
  return { ...listOf(rows, `no key was issued since ${moment(since)}`, { name: 'name' }), fields };
}

/** The name of the token that issued each key. */
async function* byToken(client: Client, since: Instant, productId: string | undefined): AsyncGenerator<string> {
  const after = await seqBefore(client.events.list, since);
  for await (const event of client.events.list({ after, type: ['license.created'] })) {
    if (productId === undefined || event.data.productId === productId) yield actorName(event);
  }
}

async function* byTerms(
  client: Client,
  kind: Exclude<Kind, 'token'>,
  since: Instant,
  productId: string | undefined,
): AsyncGenerator<string> {
  for await (const key of client.keys.list({ createdAfter: since, productId })) {
    yield kind === 'product' ? (key.productName ?? key.productId) : (key.plan?.name ?? 'no plan');
  }
}
