import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../client/client.ts';
import type { Delivery } from '../../../contract/webhooks/webhook.ts';
import { change, command, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { verdictExitCodes } from '../../failure/errors.ts';
import { doneNote, type Note } from '../../output/terminal.ts';
import { parseSeconds } from '../../values/duration.ts';
import { deliveryFields } from './webhook-fields.ts';
import { webhookId } from './webhook-options.ts';

/** How long to wait for the outcome of a ping: longer than one attempt may take. */
const DEFAULT_WAIT_SECONDS = 20;

/** How often the outcome is asked for. */
const POLL_MS = 250;

export const webhooksTest = command({
  about:
    'Sends a ping to a webhook and shows what came of it. It fails when the receiver does not accept it; the service ' +
    'repeats it nevertheless.',
  operation: 'webhooks.test',
  arguments: { id: webhookId },
  options: {
    wait: option('--wait <DUR>', 'how long to wait for the outcome, 0s for not at all (20s)', { parse: parseSeconds }),
    ...change,
  },
  fields: [...deliveryFields, { name: 'webhookId', shown: 'chosen' }, { name: 'idempotencyKey', shown: 'chosen' }],
  examples: [['lkm webhooks test whk_…', 'is somebody there, and is the signature right?']],

  async run({ id, wait = DEFAULT_WAIT_SECONDS }, context) {
    const changed = await context.change((client, call) => client.webhooks.test({ webhookId: id }, call));
    const { answer, idempotencyKey } = changed;
    const delivery = await waitForPing(await context.client(), answer, wait, context);
    const common = { idempotencyKey, quiet: [id] };
    if (delivery === null) {
      const notes = [
        doneNote(changed, `asked ${id} for an answer`),
        ...(context.io.stop.aborted ? [] : noOutcome(id, wait)),
      ];
      return { kind: 'done', data: { webhookId: id, idempotencyKey }, notes, ...common };
    }
    const { state, seq, error, durationMs, status } = delivery;
    const accepted = state === 'delivered';
    const note: Note = accepted
      ? doneNote(changed, `accepted ping ${seq} with ${status} in ${durationMs} ms`)
      : { tone: 'warning', text: `ping ${seq} was not accepted: ${error}` };
    return {
      kind: 'record',
      row: delivery,
      data: { ...delivery, webhookId: id, idempotencyKey },
      ...(!accepted && { exitCode: verdictExitCodes.notAccepted }),
      notes: [note],
      ...common,
    };
  },
});

const noOutcome = (id: string, wait: number): Note[] =>
  wait === 0
    ? []
    : [
        {
          tone: 'hint',
          text: `no outcome within ${wait} s: webhooks are sent while lkm serve runs; see lkm webhooks deliveries ${id}`,
        },
      ];

/** The first attempt of the ping; null when there is none in time. */
async function waitForPing(
  client: Client,
  { webhookId: id, afterSeq }: { readonly webhookId: string; readonly afterSeq: number },
  seconds: number,
  { io }: CommandContext,
): Promise<Delivery | null> {
  const deadline = io.now() + seconds * 1_000;
  for (;;) {
    const ping = await findPing(client, id, afterSeq);
    if (ping !== null) return ping;
    if (io.now() >= deadline || io.stop.aborted) return null;
    await sleep(POLL_MS, undefined, { signal: io.stop }).catch(() => {});
  }
}

/** The ping among what was sent, newest first; more than one part of that may have come after it. */
async function findPing(client: Client, webhookId: string, afterSeq: number): Promise<Delivery | null> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const part = { limit: 20, cursor: cursor === undefined ? cursor : Number(cursor) };
    const { items, meta } = await client.webhooks.deliveries({ webhookId, ...part });
    const ping = items.find(({ type, seq }) => type === 'ping' && seq > afterSeq);
    if (ping !== undefined) return ping;
    const isPast = (items.at(-1)?.seq ?? 0) <= afterSeq;
    cursor = isPast ? null : meta.next;
  }
  return null;
}
