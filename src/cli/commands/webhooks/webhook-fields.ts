import type { Field } from '../../output/result.ts';
import { nothing, relative, yesNo } from '../../output/words.ts';

/** The fields of a webhook. */
export const webhookFields: readonly Field[] = [
  { name: 'id' },
  { name: 'url', cuts: true },
  { name: 'types', show: listTypes, cuts: true, drops: 1 },
  {
    name: 'active',
    of: (webhook) => webhook.active,
    show: (active, _, { disabledReason }) => stateOf(active, disabledReason),
  },
  { name: 'lastSeq', label: 'sent', isNumber: true, drops: 3 },
  {
    name: 'failingSince',
    label: 'failing',
    show: (since, now) => (since === null ? 'no' : relative(since, now)),
    drops: 4,
  },
  { name: 'ordered', show: yesNo, drops: 2 },
  { name: 'reveal', show: yesNo, shown: 'data' },
  { name: 'description', shown: 'data' },
  { name: 'apiVersion', shown: 'data' },
  { name: 'disabledAt', shown: 'data' },
  { name: 'disabledReason', shown: 'data' },
  { name: 'previousSecretUntil', shown: 'data' },
  { name: 'createdAt', label: 'created', show: relative, shown: 'data' },
  { name: 'updatedAt', shown: 'data' },
];

/** The fields of a webhook that was changed. */
export const changedFields = [...webhookFields, { name: 'idempotencyKey', shown: 'chosen' }] as const;

/** The fields of a webhook that got a new secret. */
export const issuedFields = [{ name: 'secret' }, ...changedFields];

/** The fields of deliveries. */
export const deliveryFields: readonly Field[] = [
  { name: 'seq', isNumber: true },
  { name: 'type' },
  { name: 'state' },
  { name: 'status', isNumber: true, show: (status) => (status === null ? nothing : String(status)) },
  { name: 'attempts', isNumber: true, drops: 3 },
  { name: 'error', cuts: true },
  { name: 'attemptedAt', label: 'when', show: relative, drops: 2 },
  { name: 'nextAttemptAt', label: 'again', show: (at, now) => (at === null ? nothing : relative(at, now)), drops: 1 },
  { name: 'answer', shown: 'data' },
  { name: 'durationMs', shown: 'data' },
  { name: 'eventId', shown: 'data' },
];

function stateOf(active: unknown, reason: unknown): string {
  if (active) return 'yes';
  return typeof reason === 'string' ? `no (${reason})` : 'no';
}

function listTypes(types: unknown): string {
  return Array.isArray(types) ? types.join(', ') : 'all';
}
