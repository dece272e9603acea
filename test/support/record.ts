import { expect } from 'vitest';
import type { AccountId } from '../../src/contract/scalars.ts';
import { FIRST_HASH, linkOf } from '../../src/domain/audit-chain.ts';
import type { Store } from '../../src/store/store.ts';

const ALL = { after: 0, until: 1_000_000, limit: 1_000_000 };

/** The numbered record of an account; fails unless it is without a gap, a double, or a broken link. */
export async function readRecord({ repositories }: Store, accountId: AccountId) {
  const audit = await repositories.audit.list(accountId, ALL);
  const events = await repositories.events.list(accountId, ALL, {});
  expect(audit.map(({ seq }) => seq)).toEqual(audit.map((_, index) => index + 1));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  let hash = FIRST_HASH;
  for (const row of audit) {
    hash = linkOf(hash, row.content);
    expect(row.hash).toBe(hash);
    expect(JSON.parse(row.content).seq).toBe(row.seq);
  }
  const head = await repositories.recordHeads.find(accountId);
  if (audit.length > 0)
    expect(head).toMatchObject({ auditSeq: audit.length, auditHash: hash, eventSeq: events.length });
  return {
    audit: audit.map(({ content }) => JSON.parse(content)),
    events: events.map(({ content }) => JSON.parse(content)),
    head,
  };
}
