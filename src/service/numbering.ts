import { apiVersion } from '../contract/index.ts';
import type { AccountId } from '../contract/scalars.ts';
import { contentOf, FIRST_HASH, linkOf } from '../domain/audit-chain.ts';
import { canonicalJson, inOrder } from '../domain/canonical-json.ts';
import type { OutboxRecord } from '../store/outbox-record.ts';
import type { Repositories } from '../store/store.ts';
import type { AuditRecord } from '../store/tables/record/audit.ts';
import type { EventRecord } from '../store/tables/record/events.ts';
import type { RecordHead } from '../store/tables/record/heads.ts';

/** An audit row as it was hashed; with `stored_otherwise` if the stored text was altered. */
export type AuditContent = ReturnType<typeof toAudit> & { readonly stored_otherwise?: true };

export type EventContent = ReturnType<typeof toEvent>;

/** Reads an audit row. If the stored text was altered, the result gets an extra member, so its hash no longer matches. */
export function readAuditRow({ content, operation }: Pick<AuditRecord, 'content' | 'operation'>): AuditContent {
  const row: AuditContent = JSON.parse(content);
  return contentOf(row) === content && row.operation === operation ? row : { ...row, stored_otherwise: true };
}

export const readEventContent = (content: string): EventContent => JSON.parse(content);

/** Numbers the first staged entries of an account, in one transaction. Returns their number. */
export async function numberStaged(repositories: Repositories, accountId: AccountId): Promise<number> {
  const head = await lockHead(repositories, accountId);
  const staged = await repositories.outbox.take(accountId);
  if (staged.length > 0) await number(repositories, head, staged);
  return staged.length;
}

/** Numbers entries of an account, oldest first, in the transaction of the changes they record. */
export async function numberEntries(
  repositories: Repositories,
  accountId: AccountId,
  entries: readonly OutboxRecord[],
): Promise<void> {
  await number(repositories, await lockHead(repositories, accountId), entries);
}

/** Numbers entries and links them to the chain. Nothing is signed here: a damaged signing key must refuse no change. */
async function number(repositories: Repositories, head: RecordHead, entries: readonly OutboxRecord[]): Promise<void> {
  const { accountId } = head;
  const audit: AuditRecord[] = [];
  const events: EventRecord[] = [];
  let { auditHash, eventSeq } = head;
  for (const row of entries) {
    const seq = head.auditSeq + audit.length + 1;
    const content = canonicalJson(toAudit(row, seq));
    auditHash = linkOf(auditHash, content);
    audit.push({ accountId, seq, operation: row.entry.operation, content, hash: auditHash });
    for (const event of row.entry.events) {
      eventSeq += 1;
      const { type, resource, data } = event;
      const subjectId = typeof data.licenseId === 'string' ? data.licenseId : resource.id;
      events.push({
        accountId,
        seq: eventSeq,
        type,
        subjectId,
        content: JSON.stringify(toEvent(row, event, eventSeq)),
      });
    }
  }
  await repositories.audit.insertMany(audit);
  await repositories.events.insertMany(events);
  await repositories.recordHeads.move({ ...head, auditSeq: head.auditSeq + audit.length, auditHash, eventSeq });
}

async function lockHead({ recordHeads }: Repositories, accountId: AccountId): Promise<RecordHead> {
  const known = await recordHeads.lock(accountId);
  if (known !== null) return known;
  const first = { accountId, auditSeq: 0, auditHash: FIRST_HASH, eventSeq: 0, checkpointSeq: 0, checkpointAt: null };
  await recordHeads.insert(first);
  return first;
}

function toAudit({ id, at, entry }: OutboxRecord, seq: number) {
  const { actor, address, salt, door, requestId: request_id, operation, outcome, resource, details } = entry;
  const token = actor.type === 'token' ? actor.id : null;
  // In the order of canonical JSON, which is then quick to write.
  return {
    actor: { id: actor.id, type: actor.type },
    address,
    at,
    details: inOrder(details),
    door,
    id,
    operation,
    outcome,
    request_id,
    resource: resource && { id: resource.id, type: resource.type },
    salt,
    seq,
    token,
  };
}

type StagedEvent = OutboxRecord['entry']['events'][number];

const toEvent = ({ at, entry }: OutboxRecord, { id, type, resource, data }: StagedEvent, seq: number) => ({
  id,
  seq,
  type,
  api_version: apiVersion as string,
  created_at: at,
  resource_type: resource.type,
  resource_id: resource.id,
  actor: entry.actor,
  request_id: entry.requestId,
  address: entry.address,
  data,
});
