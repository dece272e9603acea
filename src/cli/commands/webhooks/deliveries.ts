import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../client/client.ts';
import { type Delivery, deliveryStates } from '../../../contract/webhooks.ts';
import { flag, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { verdictExitCodes } from '../../failure/errors.ts';
import type { Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { count, nothing, relative } from '../../output/words.ts';
import { parseSeconds } from '../../values/duration.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { changeCommand, readCommand } from '../forms.ts';
import { doneTo, fieldsShown, firstOf, listOf, namedRecord } from '../results.ts';
import { webhookId } from './webhooks.ts';

const deliveryFields: readonly Field[] = [
  { name: 'seq', isNumber: true },
  { name: 'type' },
  { name: 'state' },
  { name: 'status', isNumber: true, show: (status) => (status === null ? nothing : String(status)) },
  { name: 'attempts', isNumber: true, drops: 3 },
  { name: 'error', cuts: true },
  { name: 'attemptedAt', label: 'when', show: relative, drops: 2 },
  { name: 'nextAttemptAt', label: 'again', show: (at, now) => (at === null ? nothing : relative(at, now)), drops: 1 },
  ...fieldsShown('data', 'answer', 'durationMs', 'eventId'),
];

const DEFAULT_LIMIT = 50;

export const webhooksDeliveries = readCommand({
  about:
    'Lists the events that were sent to a webhook, newest first, with the response to the last attempt. Accepted ones ' +
    'are kept for 7 days, dead ones for 30.',
  operation: 'webhooks.deliveries',
  arguments: { id: webhookId },
  options: {
    state: option('--state <STATE>', 'only those in this state', { choices: deliveryStates }),
    limit: option('--limit <N>', `at most N (${DEFAULT_LIMIT})`, parsePositive),
  },
  fields: deliveryFields,
  examples: [
    ['lkm webhooks deliveries whk_…', 'the last ones'],
    ['lkm webhooks deliveries whk_… --state dead --json', 'those that were given up'],
  ],

  async read(client, { id, state, limit = DEFAULT_LIMIT }) {
    const walk = (partSize: number) => client.webhooks.deliveries({ webhookId: id, state, limit: partSize });
    const { items, notes } = await firstOf(walk, limit);
    return listOf(items, state === undefined ? 'nothing was sent to it yet' : `none is ${state}`, {
      name: 'seq',
      notes,
    });
  },
});

export const webhooksReplay = changeCommand({
  about:
    'Sends events to a webhook once more: all after a number, or those that it has not accepted. Each has the id and the ' +
    'number that it had, so that a receiver knows those that it has seen.',
  operation: 'webhooks.replay',
  arguments: { id: webhookId },
  options: {
    after: option('--after <SEQ>', 'all events after this number', parseCount),
    failed: flag('--failed', 'those that were given up or wait for another attempt'),
  },
  fields: ['webhookId', 'events', 'idempotencyKey'],
  examples: [
    ['lkm webhooks replay whk_… --after 4200', 'the receiver has lost what came since'],
    ['lkm webhooks replay whk_… --failed', 'the receiver works again'],
  ],

  outcome({ events }, { id }) {
    const done = events === 0 ? 'there is nothing to send' : `sends ${count(events, 'event')} once more`;
    return doneTo(id, { webhookId: id, events }, done);
  },
});

/** How long to wait for the outcome of a ping: longer than one attempt may take. */
const DEFAULT_WAIT_SECONDS = 20;

/** How often the outcome is asked for. */
const POLL_MS = 250;

export const webhooksTest = changeCommand({
  about:
    'Sends a ping to a webhook and shows what came of it. It fails when the receiver does not accept it; the service ' +
    'repeats it nevertheless.',
  operation: 'webhooks.test',
  arguments: { id: webhookId },
  options: {
    wait: option('--wait <DUR>', 'how long to wait for the outcome, 0s for not at all (20s)', parseSeconds),
  },
  fields: [...deliveryFields, ...fieldsShown('chosen', 'webhookId')],
  examples: [['lkm webhooks test whk_…', 'is somebody there, and is the signature right?']],

  async outcome(answer, { id, wait = DEFAULT_WAIT_SECONDS }, context) {
    const delivery = await waitForPing(await context.client(), answer, wait, context);
    if (delivery === null) {
      const text = `no outcome within ${wait} s: webhooks are sent while lkm serve runs; see lkm webhooks deliveries ${id}`;
      const notes: Note[] = wait === 0 || context.io.stop.aborted ? [] : [{ tone: 'hint', text }];
      return doneTo(id, { webhookId: id }, `asked ${id} for an answer`, notes);
    }
    const { state, seq, error, durationMs, status } = delivery;
    const shown = { ...namedRecord(delivery, id), data: { ...delivery, webhookId: id } };
    if (state === 'delivered') return { ...shown, done: `accepted ping ${seq} with ${status} in ${durationMs} ms` };
    const text = `ping ${seq} was not accepted: ${error}`;
    return { ...shown, exitCode: verdictExitCodes.notAccepted, notes: [{ tone: 'warning', text }] };
  },
});

/** The first attempt of the ping; null when there is none in time. */
async function waitForPing(
  client: Client,
  { webhookId, afterSeq }: { readonly webhookId: string; readonly afterSeq: number },
  seconds: number,
  { io }: CommandContext,
): Promise<Delivery | null> {
  const deadline = io.now() + seconds * 1_000;
  for (;;) {
    for await (const delivery of client.webhooks.deliveries({ webhookId, limit: 20 })) {
      if (delivery.seq <= afterSeq) break;
      if (delivery.type === 'ping') return delivery;
    }
    if (io.now() >= deadline || io.stop.aborted) return null;
    await sleep(POLL_MS, undefined, { signal: io.stop }).catch(() => {});
  }
}
