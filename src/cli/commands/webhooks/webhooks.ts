import { eventTypes } from '../../../contract/events.ts';
import { signatureForms, type Webhook } from '../../../contract/webhooks.ts';
import { argument, flag, many, option, required } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import type { Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { moment, relative, yesNo } from '../../output/words.ts';
import { parseSeconds } from '../../values/duration.ts';
import { parsePositive } from '../../values/scalars.ts';
import { changeCommand, showCommand } from '../forms.ts';
import { doneTo, fieldsShown, issued, listOf, recordOf, updated } from '../results.ts';

const webhookFields: readonly Field[] = [
  { name: 'id' },
  { name: 'active', label: 'state', show: (_, now, row) => stateOf(row as Webhook, now), cuts: true },
  { name: 'waiting', isNumber: true },
  { name: 'url', cuts: true },
  { name: 'types', show: listTypes, cuts: true, drops: 1 },
  { name: 'lastSeq', label: 'sent', isNumber: true, drops: 3 },
  { name: 'ordered', show: yesNo, drops: 2 },
  { name: 'reveal', show: yesNo, shown: 'data' },
  { name: 'signatures', show: String, shown: 'data' },
  { name: 'createdAt', label: 'created', show: relative, shown: 'data' },
  ...fieldsShown(
    'data',
    'description',
    'failingSince',
    'lastError',
    'pausedUntil',
    'disabledAt',
    'disabledReason',
    'previousSecretUntil',
    'updatedAt',
  ),
];

export const webhookId = argument('<ID|URL>', 'the webhook, by its id or URL', {
  field: 'webhookId',
  pick: 'webhook',
  takesName: true,
});

/** `more` describes the default, or what happens to earlier types. */
const typeOption = (more: string) =>
  many('--type <TYPE>', `an event to send, such as license.created; ${more}`, { choices: eventTypes });

export const signatureOption = (more: string) =>
  many('--signature <FORM>', `how requests are signed; ${more}`, { choices: signatureForms });

const description = option('--description <TEXT>', 'what it is for');

export const webhooksList = showCommand({
  about: 'Lists the webhooks of the account, oldest first; never their secrets.',
  operation: 'webhooks.list',
  fields: webhookFields,
  examples: [['lkm webhooks list', 'all of them']],
  show: ({ items }) => listOf(items, 'no webhooks yet; lkm webhooks create makes one'),
});

export const webhooksGet = showCommand({
  about: 'Shows one webhook and how it is doing.',
  operation: 'webhooks.get',
  arguments: { id: webhookId },
  fields: webhookFields,
  examples: [['lkm webhooks get whk_…', 'one webhook']],
  show: recordOf,
});

export const webhooksCreate = changeCommand({
  about:
    'Makes the service send events to a URL from now on, and prints the secret that signs them, this once. The requests ' +
    'follow Standard Webhooks, unless --signature says otherwise.',
  operation: 'webhooks.create',
  arguments: { givenUrl: argument('[URL]', 'where to send them, in place of --url', { field: 'url' }) },
  options: {
    url: required('--url <URL>', 'where to send them: https, at a public address', { neededUnless: 'givenUrl' }),
    types: typeOption('all unless given'),
    description,
    ordered: flag('--ordered', 'send an event only after the previous event was accepted'),
    reveal: flag('--reveal', 'send licence keys in full, not masked'),
    signatures: signatureOption('standard unless given'),
  },
  fields: ['secret', ...webhookFields],
  examples: [
    ['SECRET=$(lkm webhooks create https://shop.example.com/hooks)', 'everything, and keep the secret'],
    ['lkm webhooks create --url https://shop.example.com/ --type license.created', 'one type only'],
  ],
  async outcome(webhook, _, context) {
    const made = issued(webhook.secret, webhook, `created ${webhook.id} · from event ${webhook.lastSeq + 1} on`);
    return { ...made, notes: [...(made.notes ?? []), ...(await sameUrlNotes(webhook, context))] };
  },
});

export const webhooksUpdate = changeCommand({
  about:
    'Changes a webhook, stops it, or starts it again. A webhook that is started again sends the events of the time between, ' +
    'at most of the last 30 days, unless --from says otherwise. Settings that are not given stay as they are.',
  operation: 'webhooks.update',
  arguments: { id: webhookId },
  options: {
    url: option('--url <URL>', 'where to send events'),
    types: typeOption('replaces those set before'),
    allTypes: flag('--all-types', 'send all types of events', { field: 'types', means: null }),
    description,
    ordered: flag('--ordered', 'send an event only after the previous event was accepted'),
    unordered: flag('--unordered', 'send events as fast as the receiver takes them', {
      field: 'ordered',
      means: false,
    }),
    reveal: flag('--reveal', 'send licence keys in full'),
    mask: flag('--mask', 'send licence keys masked', { field: 'reveal', means: false }),
    signatures: signatureOption('replaces those set before'),
    active: flag('--active', 'start again where it stopped, and send waiting events at once'),
    from: option(
      '--from <SEQ|now>',
      'with --active: start with this event, or with the next new event',
      (text: string) => (text === 'now' ? text : parsePositive(text)),
    ),
    inactive: flag('--inactive', 'send nothing for now', { field: 'active', means: false }),
  },
  fields: webhookFields,
  examples: [
    ['lkm webhooks update whk_… --inactive', 'send nothing for now'],
    ['lkm webhooks update whk_… --active', 'start again, with the events of the time between'],
    ['lkm webhooks update whk_… --active --from now', 'start again, without these events'],
    ['lkm webhooks update whk_… --signature standard,timestamped', 'sign in both forms'],
  ],
  outcome: async (webhook, { url }, context) => ({
    ...updated(webhook),
    notes: url === undefined ? [] : await sameUrlNotes(webhook, context),
  }),
});

export const webhooksRotate = changeCommand({
  about:
    'Gives a webhook a new secret and prints it, this once. For a day, or as long as is said, the old one signs as well, ' +
    'so that the receiver can change over.',
  operation: 'webhooks.rotate',
  arguments: { id: webhookId },
  options: {
    overlap: option('--overlap <DUR>', 'how long the old secret signs as well, at most 7d (1d)', parseSeconds),
  },
  fields: ['secret', ...webhookFields],
  examples: [
    ['SECRET=$(lkm webhooks rotate whk_…)', 'a new secret'],
    ['lkm webhooks rotate whk_… --overlap 1h', 'with an hour to change over'],
  ],

  outcome(webhook, { id }) {
    const { secret, previousSecretUntil } = webhook;
    const end = previousSecretUntil === null ? 'no longer signs' : `signs until ${moment(previousSecretUntil)}`;
    return issued(secret, webhook, `rotated ${id} · the old secret ${end}`);
  },
});

export const webhooksDelete = changeCommand({
  about: 'Deletes a webhook with the list of its deliveries. Shows it and asks first.',
  operation: 'webhooks.delete',
  arguments: { id: webhookId },
  fields: ['id', 'deleted', 'idempotencyKey'],
  examples: [
    ['lkm webhooks delete whk_…', 'shows it and asks'],
    ['lkm webhooks delete whk_… --yes', 'in a script'],
  ],

  asks: ({ id }) => ({
    async about(client) {
      const { url, types, lastSeq } = await client.webhooks.get({ webhookId: id });
      return [`  ${id}  ${url}`, `  ${listTypes(types)} events; the last one sent is ${lastSeq}`];
    },
    question: `delete ${id} for ever?`,
    action: `deleting ${id}`,
  }),
  outcome: (_, { id }) => doneTo(id, { id, deleted: true }, `deleted ${id}`),
});

function stateOf({ active, failingSince, pausedUntil, lastError, disabledReason }: Webhook, now: number): string {
  const [, since] = /^(.+) ago$/.exec(relative(failingSince, now)) ?? [];
  const failing = failingSince === null ? 'active' : `failing${since === undefined ? '' : ` for ${since}`}`;
  const off = disabledReason === null ? 'off' : `off (${disabledReason})`;
  const state = active ? (pausedUntil === null ? failing : `paused, on ${relative(pausedUntil, now)}`) : off;
  return lastError === null ? state : `${state}: ${lastError}`;
}

/** Warns about other webhooks with the same URL. If they cannot be listed, the change is reported without a warning. */
async function sameUrlNotes({ id, url }: Webhook, context: CommandContext): Promise<Note[]> {
  const client = await context.client();
  const all = await client.webhooks.list().catch(() => null);
  const others = (all?.items ?? []).filter((other) => other.url === url && other.id !== id);
  return others.map((other) => ({ tone: 'warning', text: `${other.id} sends to the same URL` }));
}

function listTypes(types: unknown): string {
  return Array.isArray(types) ? types.join(', ') : 'all';
}
