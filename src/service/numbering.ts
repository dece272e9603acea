import type { EventType, JsonObject, ResourceType } from '../contract/events.ts';
import { apiVersion } from '../contract/index.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import { type CheckpointFacts, FIRST_HASH, linkOf, signCheckpoint } from '../domain/audit-chain.ts';
import { canonicalJson } from '../domain/canonical-json.ts';
import type { IpAddress } from '../domain/ip-address.ts';
import { addSeconds } from '../domain/time.ts';
import type { Repositories } from '../store/store.ts';
import type { AuditRecord } from '../store/tables/record/audit.ts';
import type { EventRecord } from '../store/tables/record/events.ts';
import type { RecordHead } from '../store/tables/record/heads.ts';
import type { OutboxRecord } from '../store/tables/record/outbox.ts';
import type { SignerOf } from './context.ts';

/** A row is signed once this many rows follow the last checkpoint. */
const CHECKPOINT_ROWS = 1_000;

/** It is also signed once the last checkpoint is this old. */
export const CHECKPOINT_SECONDS = 60 * 60;

/** A type, not an interface: it then fits objects that take further members. */
type Thing = { readonly type: string; readonly id: string };

/** An audit row as its hash covers it. */
export interface AuditContent {
  readonly seq: number;
  readonly id: string;
  readonly at: Instant;
  readonly actor: Thing;
  readonly token: string | null;
  readonly address: IpAddress | null;
  readonly door: string;
  readonly request_id: string | null;
  readonly operation: string;
  readonly resource: Thing | null;
  readonly outcome: string;
  readonly details: JsonObject;
  readonly salt: string | null;
}

/** An event as it is kept. */
export interface EventContent {
  readonly id: string;
  readonly seq: number;
  readonly type: EventType;
  readonly api_version: string;
  readonly created_at: Instant;
  readonly resource_type: ResourceType;
  readonly resource_id: string;
  readonly actor: Thing;
  readonly request_id: string | null;
  readonly address: IpAddress | null;
  readonly data: JsonObject;
}

/** Reads the content of an audit row. */
export const readAuditContent = (content: string): AuditContent => JSON.parse(content);

/** Reads the content of an event. */
export const readEventContent = (content: string): EventContent => JSON.parse(content);

/** What numbering needs besides the repositories. */
export interface NumberingParts {
  readonly signerOf: SignerOf;
  now(): Instant;
}

/**
 * Gives the first staged entries of an account their numbers, in one transaction. Returns how many it has numbered.
 */
export async function numberStaged(
  repositories: Repositories,
  accountId: AccountId,
  parts: NumberingParts,
): Promise<number> {
  const head = await lockHead(repositories, accountId);
  const staged = await repositories.outbox.take(accountId);
  if (staged.length > 0) await number(repositories, head, staged, parts);
  return staged.length;
}

/** Gives entries of an account, oldest first, their numbers, in the transaction of what they tell of. */
export async function numberEntries(
  repositories: Repositories,
  accountId: AccountId,
  entries: readonly OutboxRecord[],
  parts: NumberingParts,
): Promise<void> {
  await number(repositories, await lockHead(repositories, accountId), entries, parts);
}

/** Numbers entries, links them to the chain, and signs a checkpoint when one is due. */
async function number(
  repositories: Repositories,
  head: RecordHead,
  entries: readonly OutboxRecord[],
  { signerOf, now }: NumberingParts,
): Promise<void> {
  const { accountId } = head;
  const at = now();
  const isDue = isSignedLongAgo(head, at);
  const audit: AuditRecord[] = [];
  const events: EventRecord[] = [];
  let { auditHash, eventSeq } = head;
  let toSign: { readonly seq: number; readonly hash: string } | null = null;
  for (const row of entries) {
    const seq = head.auditSeq + audit.length + 1;
    const content = canonicalJson(toAudit(row, seq));
    auditHash = linkOf(auditHash, content);
    audit.push({ accountId, seq, operation: row.entry.operation, content, hash: auditHash });
    for (const event of row.entry.events) {
      eventSeq += 1;
      events.push(toEvent(row, event, eventSeq));
    }
    if (seq % CHECKPOINT_ROWS === 0) toSign = { seq, hash: auditHash };
  }
  const last = { seq: head.auditSeq + audit.length, hash: auditHash };
  if (isDue) toSign = last;
  await repositories.audit.insertMany(audit);
  await repositories.events.insertMany(events);
  if (toSign !== null) await sign(repositories, signerOf, { accountId, ...toSign, at });
  await repositories.recordHeads.move({
    accountId,
    auditSeq: last.seq,
    auditHash,
    eventSeq,
    checkpointSeq: toSign?.seq ?? head.checkpointSeq,
    checkpointAt: toSign === null ? head.checkpointAt : at,
  });
}

/** Whether it is time for a checkpoint. One of a time to come is of a clock that was wrong. */
const isSignedLongAgo = ({ checkpointAt }: RecordHead, at: Instant): boolean =>
  checkpointAt === null || checkpointAt <= addSeconds(at, -CHECKPOINT_SECONDS) || checkpointAt > at;

/** Signs the last row of an account, when its last checkpoint is too old for the rows after it. */
export async function signOverdue(
  repositories: Repositories,
  accountId: AccountId,
  { signerOf, now }: NumberingParts,
): Promise<void> {
  const head = await repositories.recordHeads.lock(accountId);
  const at = now();
  if (head === null || head.auditSeq === head.checkpointSeq) return;
  if (!isSignedLongAgo(head, at)) return;
  const { auditSeq: seq, auditHash: hash } = head;
  await sign(repositories, signerOf, { accountId, seq, hash, at });
  await repositories.recordHeads.move({ ...head, checkpointSeq: seq, checkpointAt: at });
}

/** An account that was copied in without a signing key has its rows linked, and not signed. */
async function sign(repositories: Repositories, signerOf: SignerOf, facts: CheckpointFacts): Promise<void> {
  if ((await repositories.signingKeys.current(facts.accountId)) === null) return;
  const signer = await signerOf(repositories, facts.accountId);
  await repositories.checkpoints.insert(signCheckpoint(signer, facts));
}

async function lockHead({ recordHeads }: Repositories, accountId: AccountId): Promise<RecordHead> {
  const known = await recordHeads.lock(accountId);
  if (known !== null) return known;
  const first = { accountId, auditSeq: 0, auditHash: FIRST_HASH, eventSeq: 0, checkpointSeq: 0, checkpointAt: null };
  await recordHeads.insert(first);
  return first;
}

function toAudit({ id, at, entry }: OutboxRecord, seq: number) {
  const { actor, address, door, requestId: request_id, operation, resource, outcome, details, salt } = entry;
  const token = actor.type === 'token' ? actor.id : null;
  // In the order of canonical JSON, which is then quick to write.
  return {
    actor: { id: actor.id, type: actor.type },
    address,
    at,
    details,
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

function toEvent(
  { accountId, at, entry }: OutboxRecord,
  { id, type, resource, data }: StagedEvent,
  seq: number,
): EventRecord {
  const content: EventContent = {
    id,
    seq,
    type,
    api_version: apiVersion,
    created_at: at,
    resource_type: resource.type,
    resource_id: resource.id,
    actor: entry.actor,
    request_id: entry.requestId,
    address: entry.address,
    data,
  };
  const { licenseId } = data;
  const subjectId = typeof licenseId === 'string' ? licenseId : resource.id;
  return { accountId, seq, type, subjectId, content: JSON.stringify(content) };
}
