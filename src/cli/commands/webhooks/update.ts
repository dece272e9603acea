import { change, command, flag, option } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { doneNote } from '../../output/terminal.ts';
import { parseInstant } from '../../values/instant.ts';
import { changedFields } from './webhook-fields.ts';
import { description, typeOption, webhookId } from './webhook-options.ts';

export const webhooksUpdate = command({
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
