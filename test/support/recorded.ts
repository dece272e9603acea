import { expect } from 'vitest';
import type { AccountId } from '../../src/contract/scalars.ts';
import { FIRST_HASH, linkOf } from '../../src/domain/audit-chain.ts';
import { type AuditContent, type EventContent, readAuditRow, readEventContent } from '../../src/service/numbering.ts';
import type { Store } from '../../src/store/store.ts';
import type { Row } from './engines.ts';
import type { World } from './world.ts';

/** An audit row with the events of its mutation. */
export interface Recorded extends Omit<AuditContent, 'seq'> {
  readonly events: readonly (Pick<EventContent, 'id' | 'type' | 'data'> & {
    readonly resource: AuditContent['resource'];
  })[];
}

const recordTables = ['outbox', 'audit', 'events', 'record_heads'];

/** The rows of all tables but those of the record. */
export const withoutRecord = (contents: Readonly<Record<string, readonly Row[]>>): Record<string, readonly Row[]> =>
  Object.fromEntries(Object.entries(contents).filter(([table]) => !recordTables.includes(table)));

/** All that is recorded, oldest first; numbers what is not. */
export async function allRecorded(world: World): Promise<Recorded[]> {
  await world.sequence();
  const { audit = [], events = [] } = await world.contents();
  const made = events.map(({ account_id, content }) => ({ account_id, ...readEventContent(String(content)) }));
  const rows = audit.map(({ account_id, operation, content }) => ({
    account_id,
    ...readAuditRow({ operation: String(operation), content: String(content) }),
  }));
  return rows
    .sort((a, b) => a.seq - b.seq)
    .map(({ account_id, seq: _, ...row }) => ({
      ...row,
      events: made
        .filter((event) => event.account_id === account_id && event.request_id === row.request_id)
        .filter((event) => event.created_at === row.at)
        .sort((a, b) => a.seq - b.seq)
        .map(({ id, type, data, resource_type, resource_id }) => ({
          id,
          type,
          data,
          resource: { type: resource_type, id: resource_id },
        })),
    }));
}

/** What the record has of the last mutation of an operation: its resource and its events. */
export async function recordedOf(world: World, operation: string) {
  const found = (await allRecorded(world)).filter((entry) => entry.operation === operation);
  expect(found.length, `entries of ${operation}`).toBeGreaterThan(0);
  const { resource, events = [], details } = found.at(-1) ?? {};
  return { resource, details, events: events.map(({ id: _, ...event }) => event) };
}

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
