import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { Actor, Members } from './events.ts';
import { feed, feedFields } from './feed.ts';
import { examples } from './openapi/examples.ts';
import { AccountId, Count, InstantText, ShownIp } from './scalars.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);

/** A row of the audit log. */
export const AuditRow = z
  .looseObject({
    seq: Count.min(1).describe('Its number in the account: from 1, without gaps'),
    id: z.string(),
    at: InstantText,
    actor: Actor,
    token: z.string().nullable().describe('The token that was used, by its id'),
    address: ShownIp.nullable().describe('Where the request came from; masked as the addresses of devices are'),
    door: z.string().describe('`http`, `db` (in process, or a command on the database) or `job`'),
    request_id: z.string().nullable(),
    operation: z.string().meta({ description: 'What was done', examples: [examples.auditRow.operation] }),
    resource: z.looseObject({ type: z.string(), id: z.string() }).nullable().describe('What it was done to'),
    outcome: z.string().describe('`done` or `refused`'),
    details: Members.describe('Ids, numbers, instants and masked keys'),
    salt: z
      .string()
      .nullish()
      .describe('Random, so that nobody finds a masked address by the hash; null without one, and where it is masked'),
    hash: Hash.describe('SHA-256 over the hash of the row before and this row without it, as RFC 8785 writes it'),
  })
  .meta({ id: 'AuditRow', description: 'Who did what, and when' });
export type AuditRow = z.output<typeof AuditRow>;

/** A signed statement on the audit log. */
export const Checkpoint = z
  .looseObject({
    accountId: AccountId,
    seq: Count.min(1),
    hash: Hash.describe('The hash of the row `seq`'),
    at: InstantText,
    kid: z.string().describe('The signing key'),
    signature: z.string().describe('Ed25519 over `{accountId, at, hash, seq}` as RFC 8785 writes it, base64url'),
  })
  .meta({ id: 'Checkpoint', description: 'A signed statement that the audit log is so up to a row' });

export type Checkpoint = z.output<typeof Checkpoint>;

/** The operations on the audit log. */
export const audit = {
  /** Rows of the audit log in the order of their numbers. */
  list: endpoint({
    summary: 'List the audit log',
    description:
      'Lists the audit log of the account after a number, oldest first: every change, and every one that was refused ' +
      'for lack of rights. Each row is linked to the one before it by its hash. `meta.head` is the last row that there ' +
      'is. Not for a token that is limited to some products.',
    method: 'GET',
    path: '/audit/list',
    scope: 'audit:read',
    query: z.object(feedFields),
    reply: feed('ListAuditResponse', AuditRow, {
      head: z.looseObject({ seq: Count, hash: Hash }).describe('The last row; `seq` 0 before the first'),
    }),
    example: {
      query: { after: '6' },
      reply: { items: [examples.auditRow], meta: { last: 7, head: { seq: 7, hash: examples.auditRow.hash } } },
    },
    errors: [],
    source: 'decision 0039',
  }),

  /** The signed checkpoints of the audit log. */
  checkpoints: endpoint({
    summary: 'List the checkpoints of the audit log',
    description:
      'Lists the signed checkpoints of the audit log after a row, oldest first. There is one once a thousand rows ' +
      'follow the last, and at least one an hour while there are new rows. They verify with the keys of `/.well-known/jwks.json`.',
    method: 'GET',
    path: '/audit/checkpoints',
    scope: 'audit:read',
    query: z.object(feedFields),
    reply: feed('ListCheckpointsResponse', Checkpoint, {}),
    example: { query: { after: '0' }, reply: { items: [examples.checkpoint], meta: { last: 7 } } },
    errors: [],
    source: 'decision 0039',
  }),
};
