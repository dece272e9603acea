import { change, command, option, productOfKey } from '../../command.ts';
import type { Field } from '../../output/result.ts';
import { doneNote, warningNotes } from '../../output/terminal.ts';
import { duration, momentAndWhen, usage } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';

const sessionFields: readonly Field[] = [
  { name: 'sessionId', label: 'session' },
  { name: 'sessionSecret', label: 'secret' },
  { name: 'nextNonce', label: 'next nonce' },
  { name: 'expiresAt', label: 'expires', show: momentAndWhen },
  { name: 'heartbeatInterval', label: 'heartbeat', show: (seconds) => `every ${duration(Number(seconds))}` },
  {
    name: 'currentSessions',
    label: 'sessions',
    show: (used, _, { maxSessions }) => usage(used, maxSessions),
  },
  { name: 'maxSessions', shown: 'data' },
  { name: 'productId', shown: 'chosen' },
  { name: 'licenseKey', shown: 'chosen' },
  { name: 'message', shown: 'chosen' },
  { name: 'idempotencyKey', shown: 'chosen' },
];

export const keysCheckout = command({
  about: 'Leases one session of a floating key. Its secret is shown this once.',
  operation: 'keys.checkout',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: option('--host-id <ID>', 'the device that uses it', { field: 'hostId' }),
    tag: option('--tag <TEXT>', 'a name for the device', { field: 'deviceTag' }),
    user: option('--user <TEXT>', 'the person who uses it', { field: 'userIdentifier' }),
    keyCheck,
    ...change,
  },
  fields: sessionFields,
  examples: [
    ['lkm keys checkout "$KEY" --host-id desk-7 --user ada', 'take a seat'],
    ['lkm keys checkout "$KEY" --json -o session.json', 'for keys heartbeat and keys checkin'],
  ],

  async run({ key, product, hostId, tag, user }, context) {
    const productId = await context.productOf(key, product);
    const changed = await context.change((client, call) =>
      client.keys.checkout({ productId, licenseKey: key, hostId, deviceTag: tag, userIdentifier: user }, call),
    );
    const { answer, idempotencyKey } = changed;
    const session = { productId, licenseKey: key, ...answer, idempotencyKey };
    return {
      kind: 'record',
      row: session,
      data: session,
      quiet: [answer.sessionId],
      secret: true,
      idempotencyKey,
      notes: [doneNote(changed, 'leased'), ...warningNotes(answer)],
    };
  },
});
