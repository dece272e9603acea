import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { Actor, RecordedDetails, RequestAddress, recordNames } from './events.ts';
import { feedFields, Seq } from './fields.ts';
import { feed } from './reply.ts';
import { AccountId, Count, InstantText, Kid, LicenseId, resource, shown } from './scalars.ts';

const Hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ examples: ['9c1f0d2b7e4a5c3f8b6d0e1a2c4f5b7d9e0a1c3f5b7d8e9a0c2f4b6d8e1a3c5f'] });

const Resource = z.looseObject({ type: shown('What it is', 'license'), id: LicenseId.describe('Its id') });

export const AuditRow = resource('AuditRow', 'Who did what, and when', {
  seq: Seq,
  id: shown('Identifier of the row', 'aud_01jd7q8k5v1n4c7w0x2z6b9t3m'),
  at: InstantText,
  actor: Actor,
  token: z.string().nullable().describe('The token that was used, by its id'),
  address: RequestAddress,
  door: shown('`http`, `db` (in process, or a command on the database), `page` (of a customer) or `job`', 'http'),
  request_id: z.string().nullable(),
  operation: shown('What was done', 'keys.create'),
  resource: Resource.nullable().describe('What it was done to'),
  outcome: shown('`done` or `refused`', 'done'),
  details: RecordedDetails,
  salt: z.string().nullish().describe('Random, so that nobody finds a masked address by the hash; null where masked'),
  hash: Hash.describe(
    'SHA-256 over the hash of the row before and this row as RFC 8785 writes it, without its hash and the names below',
  ),
  ...recordNames,
});
export type AuditRow = z.output<typeof AuditRow>;

export const Checkpoint = resource('Checkpoint', 'A signed statement that the audit log is so up to a row', {
  accountId: AccountId,
  seq: Count.min(1),
  hash: Hash.describe('The hash of the row `seq`'),
  at: InstantText,
  kid: Kid,
  signature: shown(
    'Ed25519 over `{accountId, at, hash, seq}` as RFC 8785 writes it, base64url',
    '5Yp0hX2rP1w8dQ3vJ6mC9sT4bN7kL0fG2hR5yU8iO1pA3sD6fG9hJ2kL5zX8cV1bN4mQ7wE0rT3yU6iO9pA2sD',
  ),
});
export type Checkpoint = z.output<typeof Checkpoint>;

export const audit = {
  /** Rows of the audit log in the order of their numbers. Source: decision 0039. */
  list: endpoint('GET /audit/list', 'audit:read', {
    summary: 'List the audit log',
    description:
      'Lists the audit log of the account after a number, oldest first: every change, and every one that was refused ' +
      'for lack of rights. Each row is linked to the one before it by its hash. Not for a token that is limited to some ' +
      'products.',
    query: z.object(feedFields),
    readsMany: true,
    reply: feed('ListAuditResponse', AuditRow, {
      head: z.looseObject({ seq: Count, hash: Hash }).describe('The last row; `seq` 0 before the first'),
    }),
    example: { after: '0' },
  }),

  /** The signed checkpoints of the audit log. Source: decision 0039. */
  checkpoints: endpoint('GET /audit/checkpoints', 'audit:read', {
    summary: 'List the checkpoints of the audit log',
    description:
      'Lists the signed checkpoints of the audit log after a row, oldest first: one for each thousand rows, and one an ' +
      'hour while there are new rows. They verify with the keys of `/.well-known/jwks.json`.',
    query: z.object(feedFields),
    readsMany: true,
    reply: feed('ListCheckpointsResponse', Checkpoint, {}),
    example: { after: '0' },
  }),
};
