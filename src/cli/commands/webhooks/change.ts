import { eventTypes } from '../../../contract/events.ts';
import { change, command, flag, many, option, required, yes } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { CommandResult } from '../../output/result.ts';
import { doneNote } from '../../output/terminal.ts';
import { moment } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import type { Changed } from '../../request/changes.ts';
import { parseInstant, parseSeconds } from '../../values/time.ts';
import { webhookFields, webhookId } from './list.ts';

/** The option for the events to send; `more` says what holds without it, or what becomes of those before. */
const typeOption = (more: string) =>
  many('--type <TYPE>', `an event to send, such as license.created; ${more}`, { field: 'types', choices: eventTypes });

const description = option('--description <TEXT>', 'what it is for', { field: 'description' });

const changedFields = [...webhookFields, { name: 'idempotencyKey', shown: 'chosen' }] as const;

const issuedFields = [{ name: 'secret' }, ...changedFields];

export const webhooksCreate = command({
  path: 'webhooks create',
  about:
    'Has events sent to a URL, from now on, and prints the secret that signs them, this once. The requests are those of ' +
    'Standard Webhooks.',
  operation: 'webhooks.create',
  arguments: {},
  options: {
    url: required('--url <URL>', 'where to send them: https, at a public address', { field: 'url' }),
    type: typeOption('all unless given'),
    description,
    ordered: flag('--ordered', 'send an event only once the one before it was accepted'),
    reveal: flag('--reveal', 'send licence keys in full, not masked'),
    ...change,
  },
  fields: issuedFields,
  examples: [
    ['SECRET=$(lkm webhooks create --url https://shop.example.com/hooks)', 'everything, and keep the secret'],
    ['lkm webhooks create --url https://shop.example.com/ --type license.created', 'one type only'],
  ],

  async run({ url, type, description, ordered, reveal }, context) {
    const changed = await context.change((client, call) =>
      client.webhooks.create(
        { url, types: type, description, ...(ordered && { ordered }), ...(reveal && { reveal }) },
        call,
      ),
    );
    return issued(changed, `created ${changed.answer.id} · from event ${changed.answer.lastSeq + 1} on`);
  },
});

export const webhooksRotate = command({
  path: 'webhooks rotate',
  about:
    'Gives a webhook a new secret and prints it, this once. For a day, or as long as is said, the old one signs as well, ' +
    'so that the receiver can change over.',
  operation: 'webhooks.rotate',
  arguments: { id: webhookId },
  options: {
    overlap: option('--overlap <DUR>', 'how long the old one signs as well, at most 7d (1d)', {
      parse: parseSeconds,
      field: 'overlap',
    }),
    ...change,
  },
  fields: issuedFields,
  examples: [
    ['SECRET=$(lkm webhooks rotate whk_…)', 'a new secret'],
    ['lkm webhooks rotate whk_… --overlap 1h', 'with an hour to change over'],
  ],

  async run({ id, overlap }, context) {
    const changed = await context.change((client, call) => client.webhooks.rotate({ webhookId: id, overlap }, call));
    const { previousSecretUntil } = changed.answer;
    const end = previousSecretUntil === null ? 'no longer signs' : `signs until ${moment(previousSecretUntil)}`;
    return issued(changed, `rotated ${id} · the old secret ${end}`);
  },
});

type Issued = Readonly<Record<string, unknown>> & { readonly secret: string };

function issued({ answer, ...changed }: Changed<Issued>, done: string): CommandResult {
  const { idempotencyKey } = changed;
  return {
    kind: 'value',
    value: answer.secret,
    data: { ...answer, idempotencyKey },
    quiet: [answer.secret],
    secret: true,
    idempotencyKey,
    notes: [doneNote(changed, done), { tone: 'hint', text: 'keep it now: it is not shown again' }],
  };
}

export const webhooksUpdate = command({
  path: 'webhooks update',
  about:
    'Changes a webhook, stops it, or lets it go on. One that goes on sends all that happened meanwhile. What is not given ' +
    'stays as it is.',
  operation: 'webhooks.update',
  arguments: { id: webhookId },
  options: {
    url: option('--url <URL>', 'where to send events', { field: 'url' }),
    type: typeOption('replaces those set before'),
    allTypes: flag('--all-types', 'send all types of events'),
    description,
    ordered: flag('--ordered', 'send an event only once the one before it was accepted'),
    unordered: flag('--unordered', 'send events as fast as the receiver takes them'),
    reveal: flag('--reveal', 'send licence keys in full'),
    mask: flag('--mask', 'send licence keys masked'),
    active: flag('--active', 'go on where it stopped'),
    inactive: flag('--inactive', 'send nothing for now'),
    ifUpdatedAt: option('--if-updated-at <INSTANT>', 'change it only if it was last changed then', {
      parse: parseInstant,
      field: 'ifUpdatedAt',
    }),
    ...change,
  },
  fields: changedFields,
  examples: [
    ['lkm webhooks update whk_… --inactive', 'send nothing for now'],
    ['lkm webhooks update whk_… --active', 'and go on, with all that happened meanwhile'],
  ],

  async run({ id, url, type, description, ifUpdatedAt, ...flags }, context) {
    if (type !== undefined && flags.allTypes) throw new UsageError('--type and --all-types contradict each other');
    const changes = {
      url,
      description,
      types: flags.allTypes ? null : type,
      ordered: either(flags, 'ordered', 'unordered'),
      reveal: either(flags, 'reveal', 'mask'),
      active: either(flags, 'active', 'inactive'),
    };
    if (Object.values(changes).every((value) => value === undefined)) {
      throw new UsageError('nothing to change: give --url, --type, --inactive or another of its options');
    }
    const changed = await context.change((client, call) =>
      client.webhooks.update({ webhookId: id, ...changes, ifUpdatedAt }, call),
    );
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'record',
      row: answer,
      data: { ...answer, idempotencyKey },
      quiet: [answer.id],
      idempotencyKey,
      notes: [doneNote(changed, `updated ${answer.id}`)],
    };
  },
});

/** Which of two opposite flags was given: true for the first, false for the second. */
function either<N extends string>(flags: Readonly<Record<N, boolean>>, one: N, other: N): boolean | undefined {
  if (flags[one] && flags[other])
    throw new UsageError(`--${one} and --${other} contradict each other; give one of them`);
  return flags[one] || flags[other] ? flags[one] : undefined;
}

export const webhooksDelete = command({
  path: 'webhooks delete',
  about: 'Deletes a webhook with the list of its deliveries. Shows it and asks first.',
  operation: 'webhooks.delete',
  arguments: { id: webhookId },
  options: { yes, ...change },
  fields: [{ name: 'id' }, { name: 'deleted' }, { name: 'idempotencyKey' }],
  examples: [
    ['lkm webhooks delete whk_…', 'shows it and asks'],
    ['lkm webhooks delete whk_… --yes', 'in a script'],
  ],

  async run({ id, yes }, context) {
    if (!yes && !context.dryRun) await confirmDeleting(context, id);
    const changed = await context.change((client, call) => client.webhooks.delete({ webhookId: id }, call));
    const { idempotencyKey } = changed;
    return {
      kind: 'done',
      data: { id, deleted: true, idempotencyKey },
      quiet: [id],
      idempotencyKey,
      notes: [doneNote(changed, `deleted ${id}`)],
    };
  },
});

async function confirmDeleting(context: CommandContext, id: string): Promise<void> {
  await confirm(context, {
    about: context.settings.interactive ? await describeWebhook(context, id) : [],
    question: `delete ${id} for ever?`,
    action: `deleting ${id}`,
    flag: '--yes',
  });
}

async function describeWebhook({ client }: CommandContext, id: string): Promise<string[]> {
  const { url, types, lastSeq } = await (await client()).webhooks.get({ webhookId: id });
  return [`  ${id}  ${url}`, `  ${types === null ? 'all events' : types.join(', ')}; the last one sent is ${lastSeq}`];
}
