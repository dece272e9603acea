import type { InputOf } from '../../contract/endpoint.ts';
import { apiError, type Reason } from '../../contract/errors.ts';
import { MAX_SEQ } from '../../contract/scalars.ts';
import { DEFAULT_OVERLAP_SECONDS, type Webhook, type webhooks } from '../../contract/webhooks.ts';
import { type Caller, seesSecrets } from '../../domain/access.ts';
import { newId } from '../../domain/ids.ts';
import { addSeconds, changeInstant } from '../../domain/time.ts';
import { mintWebhookSecret } from '../../domain/webhooks/signature.ts';
import { urlProblem } from '../../domain/webhooks/url.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import type { Context } from '../context.ts';
import { seqBefore } from '../events.ts';
import { readList } from '../lists.ts';
import { type Operations, ofWholeAccount, orThrow, replayToAnyone } from '../operation.ts';
import { eventOf, rightsRefusal, type UseCaseEvent } from '../record.ts';
import { writeChanges } from '../write-changes.ts';

/** How many webhooks an account may have: each event is sent to all of them. */
const MAX_WEBHOOKS = 100;

const SECRET_BYTES = 32;

/** As `ofWholeAccount`; a caller that sees keys masked must not send whole keys. */
const ofWholeAccountWithReveal = (
  caller: Caller,
  { reveal = false }: { readonly reveal?: boolean | undefined },
): Reason | null => (reveal && !seesSecrets(caller) ? 'scopeMissing' : ofWholeAccount(caller));

export const webhookOperations: Operations<typeof webhooks> = {
  /** Adds a webhook that gets the events from now on. */
  create: {
    ...replayToAnyone(ofWholeAccountWithReveal),
    async perform(context, input) {
      const { repositories, caller, record } = context;
      const { accountId } = caller;
      checkUrl(context, input.url);
      // Requests that add webhooks take turns, so that the limit holds.
      await repositories.accounts.lock(accountId);
      if ((await repositories.webhooks.list(accountId).count()) >= MAX_WEBHOOKS) throw apiError('webhookLimit');
      const webhook = newWebhook(context, input, await lastSeqOf(context));
      await repositories.webhooks.insert(webhook);
      record(eventOf('webhook.created', 'webhook', webhook.id, { host: hostOf(webhook) }));
      return { ...(await show(webhook, context)), secret: webhook.secret };
    },
  },

  list: {
    authorize: ofWholeAccount,
    async perform(context, input) {
      const webhooks = context.repositories.webhooks.list(context.caller.accountId);
      const shown = webhooks.map((webhook) => show(webhook, context));
      return readList(input, shown);
    },
  },

  get: {
    authorize: ofWholeAccount,
    perform: async (context, { webhookId }) => show(await findWebhook(context, webhookId), context),
  },

  /** A reactivated webhook continues where it stopped. After `active` or a new URL, waiting events are sent at once. */
  update: {
    ...replayToAnyone(ofWholeAccountWithReveal),
    async perform(context, { webhookId, from, ...given }) {
      const { repositories, caller } = context;
      const before = await lockWebhook(context, webhookId);
      if (given.url !== undefined) {
        checkUrl(context, given.url);
        // A caller that sees keys masked must not send whole keys to another address.
        if (before.reveal && !seesSecrets(caller)) throw rightsRefusal('webhook', webhookId);
      }
      const after = await writeChanges(context, before, {
        given: { ...given, types: uniqueOf(given.types) },
        write: (changes) => repositories.webhooks.patch(before, changes),
        describe: (webhook, changed) => ({ ...updated(webhook, changed), ...(from && { details: { from } }) }),
      });
      const target = { accountId: caller.accountId, webhookId };
      const { deliveries } = repositories;
      if (given.types) await deliveries.removeOtherTypes(target, given.types);
      if (!given.active && given.url === undefined) {
        return show(given.types ? await patchAndEndLease(context, after, {}) : after, context);
      }
      const lastSeq = given.active ? await resume(context, before, from) : before.lastSeq;
      await deliveries.retryAll(target, context.now);
      const enabled = given.active && { disabledAt: null, disabledReason: null };
      return show(await patchAndEndLease(context, after, { ...noFailures, ...enabled, lastSeq }), context);
    },
  },

  delete: {
    ...replayToAnyone(ofWholeAccount),
    async perform({ repositories, caller, record }, { webhookId }) {
      if (!(await repositories.webhooks.remove(caller.accountId, webhookId))) throw apiError('webhookNotFound');
      record(eventOf('webhook.deleted', 'webhook', webhookId));
    },
  },

  rotate: {
    ...replayToAnyone(ofWholeAccount),
    async perform(context, { webhookId, overlap = DEFAULT_OVERLAP_SECONDS }) {
      const { repositories, now, random, record } = context;
      const before = await lockWebhook(context, webhookId);
      const secret = mintWebhookSecret(random(SECRET_BYTES));
      const after = await repositories.webhooks.patch(before, {
        secret,
        previousSecret: overlap === 0 ? null : before.secret,
        previousSecretUntil: overlap === 0 ? null : addSeconds(now, overlap),
        updatedAt: changeInstant(now, before.updatedAt),
      });
      record(updated(after, ['secret']));
      return { ...(await show(after, context)), secret };
    },
  },
};

function newWebhook({ caller, now, random }: Context, input: NewWebhook, lastSeq: number): WebhookRecord {
  const { url, types, description = null, reveal = false, ordered = false, active = true } = input;
  return {
    accountId: caller.accountId,
    id: newId('whk', now, random(10)),
    url,
    types: uniqueOf(types) ?? null,
    description,
    reveal,
    ordered,
    signatures: input.signatures ?? ['standard'],
    active,
    secret: mintWebhookSecret(random(SECRET_BYTES)),
    previousSecret: null,
    previousSecretUntil: null,
    lastSeq,
    ...noFailures,
    retryAt: null,
    lease: null,
    leaseUntil: null,
    servedAt: null,
    disabledAt: null,
    disabledReason: null,
    createdAt: now,
    updatedAt: now,
  };
}

type NewWebhook = InputOf<(typeof webhooks)['create']>;

const noFailures = { failingSince: null, lastError: null, pausedUntil: null };

/** Changes a webhook and ends its lease, so that its server reads it again. Events in flight that still wait are sent again. */
export async function patchAndEndLease(
  { repositories: { webhooks, deliveries } }: Context,
  { accountId, id }: WebhookRecord,
  changes: Parameters<Context['repositories']['webhooks']['patch']>[1],
): Promise<WebhookRecord> {
  const retryAt = await deliveries.nextRetry({ accountId, webhookId: id });
  return webhooks.patch({ accountId, id }, { ...changes, lease: null, leaseUntil: null, retryAt });
}

/** How long events wait for a webhook that is not active, in seconds. */
const KEPT_SECONDS = 30 * 24 * 60 * 60;

/** The number of the last event that is too old to wait for a webhook that is not active; 0 for an active webhook. */
const forgottenUntil = async (context: Context, { active }: WebhookRecord): Promise<number> =>
  active ? 0 : seqBefore(context, addSeconds(context.now, -KEPT_SECONDS));

/**
 * Removes the waiting deliveries that a reactivated webhook no longer sends: all of them if `from` says where to continue. Returns
 * the number of the event after which it continues.
 */
async function resume(context: Context, webhook: WebhookRecord, from: number | 'now' | undefined): Promise<number> {
  const last = await lastSeqOf(context);
  if (Number(from) > last + 1) throw apiError('aheadOfService', { last });
  const until = from === undefined ? await forgottenUntil(context, webhook) : MAX_SEQ;
  const target = { accountId: webhook.accountId, webhookId: webhook.id };
  await context.repositories.deliveries.removeWaiting(target, 0, until);
  if (from === undefined) return Math.max(webhook.lastSeq, until);
  return from === 'now' ? last : from - 1;
}

export async function findWebhook({ repositories, caller }: Context, webhookId: string): Promise<WebhookRecord> {
  return orThrow(await repositories.webhooks.find(caller.accountId, webhookId), 'webhookNotFound');
}

/** Locks and returns a webhook. Throws ApiError `webhookNotFound`. */
export async function lockWebhook({ repositories, caller }: Context, webhookId: string): Promise<WebhookRecord> {
  return orThrow(await repositories.webhooks.lock(caller.accountId, webhookId), 'webhookNotFound');
}

export async function lastSeqOf({ repositories, caller }: Context): Promise<number> {
  return (await repositories.recordHeads.find(caller.accountId))?.eventSeq ?? 0;
}

const updated = (webhook: WebhookRecord, changed: readonly string[]): UseCaseEvent =>
  eventOf('webhook.updated', 'webhook', webhook.id, { changed, active: webhook.active, host: hostOf(webhook) });

/** The host of the URL; the path and the query may hold a secret of the receiver. */
const hostOf = ({ url }: Pick<WebhookRecord, 'url'>): string => new URL(url).host;

/** Shows the whole URL only to callers that may change it. */
async function show(webhook: WebhookRecord, context: Context): Promise<Webhook> {
  const { caller, now, repositories } = context;
  const { url, previousSecretUntil, pausedUntil, accountId, id } = webhook;
  return {
    id: webhook.id,
    url: caller.scopes.has('webhook:write') ? url : `${new URL(url).origin}/…`,
    types: webhook.types,
    description: webhook.description,
    reveal: webhook.reveal,
    ordered: webhook.ordered,
    signatures: webhook.signatures,
    active: webhook.active,
    lastSeq: webhook.lastSeq,
    waiting: await repositories.deliveries.countWaiting(
      { accountId, webhookId: id },
      await forgottenUntil(context, webhook),
      webhook,
    ),
    failingSince: webhook.failingSince,
    lastError: webhook.lastError,
    pausedUntil: pausedUntil !== null && pausedUntil > now ? pausedUntil : null,
    disabledAt: webhook.disabledAt,
    disabledReason: webhook.disabledReason,
    previousSecretUntil: previousSecretUntil !== null && previousSecretUntil > now ? previousSecretUntil : null,
    createdAt: webhook.createdAt,
    updatedAt: webhook.updatedAt,
  };
}

function checkUrl({ webhooks: { allowPrivate } }: Context, url: string): void {
  const why = urlProblem(url, { allowPrivate });
  if (why !== null) throw apiError('webhookUrlRefused', { why });
}

const uniqueOf = <T>(types: readonly T[] | null | undefined) => types && [...new Set(types)];
