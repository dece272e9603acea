import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../client/client.ts';
import { type Delivery, deliveryStates } from '../../../contract/webhooks.ts';
import { option, required } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { verdictExitCodes } from '../../failure/errors.ts';
import type { Field } from '../../output/result.ts';
import type { Note } from '../../output/terminal.ts';
import { count, EMPTY_CELL, moment, relative } from '../../output/words.ts';
import { parseSeconds } from '../../values/duration.ts';
import { parseCount, parsePositive } from '../../values/scalars.ts';
import { changeCommand, readCommand } from '../forms.ts';
import { doneTo, fieldsShown, firstOf, listOf, namedRecord } from '../results.ts';
import { webhookId } from './webhooks.ts';

const deliveryFields: readonly Field[] = [
  { name: 'seq', isNumber: true },
  { name: 'type' },
  { name: 'state' },
  { name: 'status', isNumber: true, show: (status) => (status === null ? EMPTY_CELL : String(status)) },
  { name: 'attempts', isNumber: true, drops: 3 },
  { name: 'error', cuts: true },
  { name: 'attemptedAt', label: 'when', show: relative, drops: 2 },
  {
    name: 'nextAttemptAt',
    label: 'again',
    show: (at, now) => (at === null ? EMPTY_CELL : relative(at, now)),
    drops: 1,
  },
  ...fieldsShown('data', 'answer', 'durationMs', 'eventId'),
];

const DEFAULT_LIMIT = 50;

export const webhooksDeliveries = readCommand({
  about:
    'Lists the events that were sent to a webhook, newest first, with the response to the last attempt. Accepted ones ' +
    'are kept for 7 days, others until they are.',
  operation: 'webhooks.deliveries',
  arguments: { id: webhookId },
  options: {
    state: option('--state <STATE>', 'only those in this state', { choices: deliveryStates }),
    limit: option('--limit <N>', `at most N (${DEFAULT_LIMIT})`, parsePositive),
  },
  fields: deliveryFields,
  examples: [
    ['lkm webhooks deliveries whk_…', 'the last ones'],
    ['lkm webhooks deliveries whk_… --state waiting --json', 'the deliveries that were not accepted yet'],
  ],

  async read(client, { id, state, limit = DEFAULT_LIMIT }) {
    const walk = (partSize: number) => client.webhooks.deliveries({ webhookId: id, state, limit: partSize });
    const { items, notes } = await firstOf(walk, limit);
    return listOf(items, state === undefined ? 'nothing was sent to it in the last 7 days' : `none is ${state}`, {
      name: 'seq',
      notes,
    });
  },
});

export const webhooksReplay = changeCommand({
  about:
    'Sends all events after a number to a webhook once more. Each has the id and the number that it had, so that a ' +
    'receiver knows those that it has seen.',
  operation: 'webhooks.replay',
  arguments: { id: webhookId },
  options: { after: required('--after <SEQ>', 'all events after this number', parseCount) },
  fields: ['webhookId', 'events', 'idempotencyKey'],
  examples: [['lkm webhooks replay whk_… --after 4200', 'the receiver lost the events since then']],

  outcome({ events }, { id }) {
    const done = events === 0 ? 'there is nothing to send' : `sends ${count(events, 'event')} once more`;
    return doneTo(id, { webhookId: id, events }, done);
  },
});

/** Longer than the time limit of one attempt. */
const DEFAULT_WAIT_SECONDS = 20;

const POLL_MS = 250;

export const webhooksTest = changeCommand({
  about:
    'Sends a ping to a webhook and shows what came of it. Once it is accepted, all that waits is sent too. It fails when ' +
    'the receiver does not accept it in time; the service repeats it nevertheless.',
  operation: 'webhooks.test',
  arguments: { id: webhookId },
  options: {
    wait: option('--wait <DUR>', 'how long to wait for the outcome, 0s for not at all (20s)', parseSeconds),
  },
  fields: [...deliveryFields, ...fieldsShown('chosen', 'webhookId')],
  examples: [['lkm webhooks test whk_…', 'does the receiver answer, and accept the signature?']],

  async outcome(answer, { id, wait = DEFAULT_WAIT_SECONDS }, context) {
    const client = await context.client();
    const delivery = await waitForPing(client, answer, wait, context);
    if (delivery === null || isUnderWay(delivery)) {
      const asked = doneTo(id, { webhookId: id }, `asked ${id} for an answer`);
      if (wait === 0 || context.io.stop.aborted) return asked;
      const why = delivery === null ? await inFront(client, id) : 'the receiver has not answered yet';
      const notes: Note[] = [{ tone: 'warning', text: `no outcome within ${wait} s: ${why}` }];
      return { ...asked, exitCode: verdictExitCodes.notAccepted, notes };
    }
    const { state, seq, error, durationMs, status } = delivery;
    const shown = { ...namedRecord(delivery, id), data: { ...delivery, webhookId: id } };
    if (state === 'delivered') return { ...shown, done: `accepted ping ${seq} with ${status} in ${durationMs} ms` };
    const text = `ping ${seq} was not accepted: ${error}`;
    return { ...shown, exitCode: verdictExitCodes.notAccepted, notes: [{ tone: 'warning', text }] };
  },
});

const isUnderWay = ({ state, attempts }: Delivery): boolean => state === 'waiting' && attempts === 0;

/** Why a ping was not sent yet. */
async function inFront(client: Client, id: string): Promise<string> {
  const { active, pausedUntil, waiting, lastError } = await client.webhooks.get({ webhookId: id });
  const goOn = `lkm webhooks update ${id} --active goes on at once`;
  if (!active) return `the webhook is not active; ${goOn}`;
  if (pausedUntil !== null) return `its receiver wants nothing before ${moment(pausedUntil)}; ${goOn}`;
  const events = `${count(waiting, 'event')} ${waiting === 1 ? 'waits' : 'wait'} in front of it`;
  if (lastError !== null) return `${events}, the last attempt failed: ${lastError}; ${goOn}`;
  return waiting > 1 ? events : 'webhooks are sent while lkm serve runs';
}

/** The first attempt of the ping; null if it has not started in time. */
async function waitForPing(
  client: Client,
  { webhookId, afterSeq }: { readonly webhookId: string; readonly afterSeq: number },
  seconds: number,
  { io }: CommandContext,
): Promise<Delivery | null> {
  const deadline = io.now() + seconds * 1_000;
  for (let found: Delivery | null = null; ; ) {
    for await (const delivery of client.webhooks.deliveries({ webhookId, limit: 20 })) {
      if (delivery.seq <= afterSeq) break;
      if (delivery.type === 'ping') found = delivery;
    }
    if ((found !== null && !isUnderWay(found)) || io.now() >= deadline || io.stop.aborted) return found;
    await sleep(POLL_MS, undefined, { signal: io.stop }).catch(() => {});
  }
}
