import type { Event } from '../../../contract/events.ts';
import { epochSeconds, toInstant } from '../../../domain/time.ts';
import { mintWebhookSecret, type Signing, signedHeaders } from '../../../domain/webhooks/signature.ts';
import type { Sender } from '../../../server/webhooks/send.ts';
import { command, required } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { Field, View } from '../../output/result.ts';
import { EMPTY_CELL } from '../../output/words.ts';
import { follow, following, lastSeq } from '../events-and-audit/feed.ts';
import { eventLines } from '../events-and-audit/lines.ts';
import { signatureHeader } from './signature-header.ts';
import { signatureOption } from './webhooks.ts';

/** The secret that signs forwarded events. */
const SECRET_VARIABLE = 'LKM_WEBHOOK_SECRET';

const fields: readonly Field[] = [
  { name: 'seq' },
  { name: 'type' },
  { name: 'status', show: (status) => (status === null ? EMPTY_CELL : String(status)) },
  { name: 'durationMs', label: 'ms' },
  { name: 'error', shown: 'data' },
  { name: 'eventId', shown: 'chosen' },
];

export const webhooksListen = command({
  about:
    'Forwards events to a program on this machine as they happen, signed as webhooks are, until it is stopped. Nothing is ' +
    `set up in the service. They are signed with the secret in ${SECRET_VARIABLE}, or with a new one, which is shown.`,
  streams: true,
  options: {
    forwardTo: required('--forward-to <URL>', 'where to: http://localhost:3000/hook'),
    signatures: signatureOption('standard unless given'),
    webhookSignatureHeader: signatureHeader,
    ...following,
  },
  fields,
  examples: [
    ['lkm webhooks listen --forward-to http://localhost:3000/hook', 'try a receiver'],
    ['lkm webhooks listen --forward-to http://localhost:3000/hook --after 0', 'with all that has happened'],
  ],

  async run({ forwardTo, after, type, signatures, webhookSignatureHeader: header }, context) {
    const url = readUrl(forwardTo);
    const signing = { signatures, header };
    const secret = await readSecret(context, signing);
    const client = await context.client();
    const last = await lastSeq(client.events.list);
    const start = after ?? last;
    const { createSender } = await import('../../../server/webhooks/send.ts');
    const sender = createSender({ allowPrivate: true });
    context.onClose(async () => sender.close());
    await context.say({ tone: 'done', text: `forwarding events after ${start} to ${url} · ctrl-c ends it` });
    const lineOf = eventLines();
    const lines = new WeakMap<object, (view: View) => Promise<string>>();
    async function* forward() {
      for await (const events of follow(context, { after: start, type })) {
        for (const event of events) {
          const forwarded = await send(sender, event, { url, secret, signing, io: context.io });
          if (forwarded === null) return;
          lines.set(forwarded, (view) => lineOf(event, view, forwarded));
          yield [forwarded];
        }
      }
    }
    return {
      ...{ kind: 'stream', stream: forward(), data: [], quiet: [] },
      quietOf: ({ eventId }) => String(eventId),
      lineOf: async (row, view) => (await lines.get(row)?.(view)) ?? '',
    };
  },
});

function readUrl(text: string): string {
  const url = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) throw new UsageError(`'${text}' is not a URL`, [['Like:', 'http://localhost:3000/hook']]);
  return new URL(url).href;
}

async function readSecret({ io, say }: CommandContext, signing: Signing): Promise<string> {
  const given = io.env[SECRET_VARIABLE];
  if (given) {
    try {
      signedHeaders({ id: '', timestamp: 0, body: '' }, [given], signing);
    } catch {
      throw new UsageError(`${SECRET_VARIABLE} is not a secret of a webhook: whsec_ and base64`);
    }
    return given;
  }
  const secret = mintWebhookSecret(Buffer.from((io.uuid() + io.uuid()).replaceAll('-', ''), 'hex'));
  await say({ tone: 'hint', text: `${SECRET_VARIABLE}=${secret}` });
  return secret;
}

interface Forwarding {
  readonly url: string;
  readonly secret: string;
  readonly signing: Signing;
  readonly io: Io;
}

/** Sends an event once, as the service would; null if the command was stopped. */
async function send(sender: Sender, event: Event, { url, secret, signing, io }: Forwarding) {
  const { address: _, tokenName, productName, customerName, customerEmail, ...content } = event;
  const { id: eventId, seq, type } = content;
  const body = JSON.stringify(content);
  const started = io.now();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'lkm-webhooks',
    ...signedHeaders({ id: eventId, timestamp: epochSeconds(toInstant(started)), body }, [secret], signing),
  };
  const sent = await sender.send({ url, headers, body, signal: io.stop });
  return sent && { seq, type, status: sent.status, durationMs: io.now() - started, error: sent.error, eventId };
}
