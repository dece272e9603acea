import { apiError, type Reason } from '../../contract/errors.ts';
import { apiVersion } from '../../contract/index.ts';
import { payloadVersions, type Webhook } from '../../contract/webhooks/webhook.ts';
import { DEFAULT_OVERLAP_SECONDS, type webhooks } from '../../contract/webhooks/webhooks.ts';
import { type Caller, seesSecrets } from '../../domain/access.ts';
import { newId } from '../../domain/ids.ts';
import { addSeconds, changeInstant } from '../../domain/time.ts';
import { mintWebhookSecret } from '../../domain/webhooks/signature.ts';
import { urlProblem } from '../../domain/webhooks/url.ts';
import type { WebhookRecord } from '../../store/tables/webhooks/webhooks.ts';
import type { Context, UseCase } from '../context.ts';
import { readList } from '../lists.ts';
import { type Operations, ofWholeAccount, sameForAll } from '../operation.ts';
import { RecordedRefusal, type UseCaseEvent } from '../record.ts';
import { refuseStale, writeChanges } from '../write-changes.ts';

type Webhooks = typeof webhooks;

/** How many webhooks an account may have: each event is sent to all of them. */
const MAX_WEBHOOKS = 100;

const SECRET_BYTES = 32;

/** Adds a webhook, to which is sent what is numbered from now on. */
const createWebhook: UseCase<Webhooks['create']> = async (context, input) => {
  const { repositories, caller, now, random, record } = context;
  const { accountId } = caller;
  checkUrl(context, input.url);
  const { reveal = false, ordered = false, active = true } = input;
  // Those who add one at the same time take turns, so that each sees the others.
  await repositories.accounts.lock(accountId);
  if ((await repositories.webhooks.list(accountId).count()) >= MAX_WEBHOOKS) throw apiError('webhookLimit');
  const owner = { accountId, id: newId('whk', now, random(10)) };
  const secret = mintWebhookSecret(random(SECRET_BYTES));
  const webhook: WebhookRecord = {
    ...owner,
    url: input.url,
    types: uniqueOf(input.types),
    description: input.description ?? null,
    reveal,
    ordered,
    active,
    apiVersion: input.apiVersion ?? currentVersion(),
    secret,
    previousSecret: null,
    previousSecretUntil: null,
    lastSeq: await lastSeqOf(context),
    retryAt: null,
    pausedUntil: null,
    lease: null,
    leaseUntil: null,
    servedAt: null,
    failingSince: null,
    disabledAt: null,
    disabledReason: null,
    createdAt: now,
    updatedAt: now,
  };
  await repositories.webhooks.insert(webhook);
  record(webhookEvent('webhook.created', webhook, { host: hostOf(webhook) }));
  return { ...show(webhook, context), secret };
};

/** Lists the webhooks of the account. */
const listWebhooks: UseCase<Webhooks['list']> = async (context, input) => {
  const { repositories, caller } = context;
  return readList(
    input,
    repositories.webhooks.list(caller.accountId).map((webhook) => show(webhook, context)),
  );
};

/** Shows one webhook. */
const getWebhook: UseCase<Webhooks['get']> = async (context, { webhookId }) => {
  const webhook = await context.repositories.webhooks.find(context.caller.accountId, webhookId);
  if (webhook === null) throw apiError('webhookNotFound');
  return show(webhook, context);
};

/** Changes what is given of a webhook; without a difference there is no event. One that becomes active again begins anew where it stopped. */
const updateWebhook: UseCase<Webhooks['update']> = async (context, { webhookId, ifUpdatedAt, ...changes }) => {
  const { repositories, caller } = context;
  const before = await lockWebhook(context, webhookId);
  refuseStale(before, ifUpdatedAt);
  if (changes.url !== undefined) {
    checkUrl(context, changes.url);
    // Whoever does not see keys must not have them sent to an address of their own.
    if (before.reveal && !seesSecrets(caller)) {
      throw new RecordedRefusal('scopeMissing', { resource: { type: 'webhook', id: webhookId } });
    }
  }
  const isResumed = changes.active === true && !before.active;
  const isMoved = changes.url !== undefined && changes.url !== before.url;
  const after = await writeChanges(context, before, changes, {
    type: 'webhook.updated',
    resource: { type: 'webhook', id: webhookId },
    factsOf: (webhook) => ({ active: webhook.active, host: hostOf(webhook) }),
    write: (updatedAt) =>
      repositories.webhooks.patch(before, {
        ...changes,
        ...(changes.types !== undefined && { types: uniqueOf(changes.types) }),
        ...((isResumed || isMoved) && startedAnew),
        ...(isResumed && { disabledAt: null, disabledReason: null }),
        updatedAt,
      }),
  });
  return show(after, context);
};

/**
 * What is on its way now does not count, and what went wrong before neither: it says nothing of another receiver. Whoever
 * sends it has lost its lease, and all of it is sent anew.
 */
const startedAnew = { lease: null, leaseUntil: null, failingSince: null, pausedUntil: null };

/** Removes a webhook with its deliveries. */
const deleteWebhook: UseCase<Webhooks['delete']> = async ({ repositories, caller, record }, { webhookId }) => {
  if (!(await repositories.webhooks.remove(caller.accountId, webhookId))) throw apiError('webhookNotFound');
  record(webhookEvent('webhook.deleted', { id: webhookId }, {}));
};

/** Gives a webhook a new secret; the one before it signs as well for a time. */
const rotateWebhook: UseCase<Webhooks['rotate']> = async (
  context,
  { webhookId, overlap = DEFAULT_OVERLAP_SECONDS },
) => {
  const { repositories, now, random, record } = context;
  const before = await lockWebhook(context, webhookId);
  const secret = mintWebhookSecret(random(SECRET_BYTES));
  const after = await repositories.webhooks.patch(before, {
    secret,
    previousSecret: overlap === 0 ? null : before.secret,
    previousSecretUntil: overlap === 0 ? null : addSeconds(now, overlap),
    updatedAt: changeInstant(now, before.updatedAt),
  });
  record(webhookEvent('webhook.updated', after, { changed: ['secret'], active: after.active, host: hostOf(after) }));
  return { ...show(after, context), secret };
};

/** The webhook, which nobody else changes until the transaction ends. Throws ApiError `webhookNotFound`. */
export async function lockWebhook({ repositories, caller }: Context, webhookId: string): Promise<WebhookRecord> {
  const webhook = await repositories.webhooks.lock(caller.accountId, webhookId);
  if (webhook === null) throw apiError('webhookNotFound');
  return webhook;
}

/** The number of the account's last event. */
export async function lastSeqOf({ repositories, caller }: Context): Promise<number> {
  return (await repositories.recordHeads.find(caller.accountId))?.eventSeq ?? 0;
}

/** An event of a webhook. */
export const webhookEvent = (
  type: 'webhook.created' | 'webhook.updated' | 'webhook.deleted' | 'webhook.disabled' | 'ping',
  { id }: { readonly id: string },
  data: NonNullable<UseCaseEvent['data']>,
): UseCaseEvent => ({ type, resource: { type: 'webhook', id }, data });

/** Without path and query, which may be what opens the receiver. */
const hostOf = ({ url }: Pick<WebhookRecord, 'url'>): string => new URL(url).host;

/** The whole URL is for those who may change it: its path and query may be what opens the receiver. */
function show(webhook: WebhookRecord, { caller, now }: Context): Webhook {
  const { id, types, description, reveal, ordered, active, apiVersion, lastSeq } = webhook;
  const { failingSince, disabledAt, disabledReason, previousSecretUntil, createdAt, updatedAt } = webhook;
  const url = caller.scopes.has('webhook:write') ? webhook.url : `${new URL(webhook.url).origin}/…`;
  return {
    id,
    url,
    types,
    description,
    reveal,
    ordered,
    active,
    apiVersion,
    lastSeq,
    failingSince,
    disabledAt,
    disabledReason,
    previousSecretUntil: previousSecretUntil !== null && previousSecretUntil > now ? previousSecretUntil : null,
    createdAt,
    updatedAt,
  };
}

function checkUrl({ webhooks: { allowPrivate } }: Context, url: string): void {
  const why = urlProblem(url, { allowPrivate });
  if (why !== null) throw apiError('webhookUrlRefused', { why });
}

const uniqueOf = <T>(types: readonly T[] | null | undefined): T[] | null =>
  types == null ? null : [...new Set(types)];

/** The present version; one that has just been made dated is among them, or payloads could not be made. */
function currentVersion(): WebhookRecord['apiVersion'] {
  const [newest] = payloadVersions;
  if (newest !== apiVersion) throw new Error(`payloads of ${apiVersion} cannot be made`);
  return newest;
}

/** Whoever does not see keys must not have them sent. */
const ofAllThatIsSent = (
  caller: Caller,
  { reveal = false }: { readonly reveal?: boolean | undefined },
): Reason | null => (reveal && !seesSecrets(caller) ? 'scopeMissing' : ofWholeAccount(caller));

/** The operations on webhooks. */
export const webhookOperations: Operations<typeof webhooks> = {
  create: { perform: createWebhook, authorize: ofAllThatIsSent, authorizeReplay: sameForAll },
  list: { perform: listWebhooks, authorize: ofWholeAccount },
  get: { perform: getWebhook, authorize: ofWholeAccount },
  update: { perform: updateWebhook, authorize: ofAllThatIsSent, authorizeReplay: sameForAll },
  delete: { perform: deleteWebhook, authorize: ofWholeAccount, authorizeReplay: sameForAll },
  rotate: { perform: rotateWebhook, authorize: ofWholeAccount, authorizeReplay: sameForAll },
};
