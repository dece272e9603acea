import { signRequest } from '../../../client/with-session.ts';
import { keySessions } from '../../../contract/sessions.ts';
import { change, command, option, productOfKey } from '../../command.ts';
import type { Field } from '../../output/result.ts';
import { doneNote, warningNotes } from '../../output/terminal.ts';
import { duration, momentAndWhen, usage } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { readSession, sessionFileArgument } from '../../values/session-file.ts';
import { changeCommand } from '../forms.ts';
import { doneTo, fieldsShown, namedRecord } from '../results.ts';

const sessionFields: readonly Field[] = [
  { name: 'sessionId', label: 'session' },
  { name: 'sessionSecret', label: 'secret' },
  { name: 'nextNonce', label: 'next nonce' },
  { name: 'expiresAt', label: 'expires', show: momentAndWhen },
  { name: 'heartbeatInterval', label: 'heartbeat', show: (seconds) => `every ${duration(Number(seconds))}` },
  { name: 'currentSessions', label: 'sessions', show: (used, _, { maxSessions }) => usage(used, maxSessions) },
  ...fieldsShown('data', 'maxSessions'),
  ...fieldsShown('chosen', 'productId', 'licenseKey', 'message'),
];

export const keysCheckout = changeCommand({
  about: 'Leases one session of a floating key. Its secret is shown this once.',
  operation: 'keys.checkout',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: option('--host-id <ID>', 'the device that uses it'),
    deviceTag: option('--tag <TEXT>', 'a name for the device'),
    userIdentifier: option('--user <TEXT>', 'the person who uses it'),
    keyCheck,
  },
  fields: sessionFields,
  examples: [
    ['lkm keys checkout "$KEY" --host-id desk-7 --user ada', 'take a seat'],
    ['lkm keys checkout "$KEY" --json -o session.json', 'for keys heartbeat and keys checkin'],
  ],

  outcome(answer, _, __, { productId, licenseKey }) {
    const session = { productId, licenseKey, ...answer };
    const shown = namedRecord(session, answer.sessionId);
    return { ...shown, secret: true, done: 'leased', notes: warningNotes(answer) };
  },
});

export const keysHeartbeat = command({
  about: 'Prolongs the lease of a session, and writes the nonce of the next heartbeat into its file.',
  operation: 'keys.heartbeat',
  arguments: { file: sessionFileArgument },
  options: change,
  fields: [
    { name: 'sessionId', label: 'session' },
    { name: 'expiresAt', label: 'expires', show: momentAndWhen },
    { name: 'nextNonce', label: 'next nonce', shown: 'data' },
    { name: 'idempotencyKey', shown: 'chosen' },
  ],
  examples: [['lkm keys heartbeat session.json', 'each time that the heartbeat interval is over']],

  async run({ file }, context) {
    const session = await readSession(file, context.io);
    const { productId, licenseKey, sessionId } = session;
    const update = await session.prepareUpdate();
    context.onClose(async () => update.discard());
    const changed = await context.change(keySessions.heartbeat, { productId, licenseKey, ...signRequest(session) });
    const { answer, idempotencyKey } = changed;
    const { expiresAt, nextNonce } = answer;
    await update.write({ expiresAt, nextNonce });
    const row = { sessionId, expiresAt, nextNonce, idempotencyKey };
    return { ...namedRecord(row, sessionId), idempotencyKey, notes: [doneNote(changed, 'prolonged')] };
  },
});

export const keysCheckin = changeCommand({
  about: 'Gives the seat of a session back before its lease ends.',
  operation: 'keys.checkin',
  arguments: { file: sessionFileArgument },
  fields: ['message', 'sessionId', 'idempotencyKey'],
  examples: [['lkm keys checkin session.json', 'the seat is free at once']],

  async prepare({ file }, { io }) {
    const session = await readSession(file, io);
    return { productId: session.productId, licenseKey: session.licenseKey, ...signRequest(session) };
  },
  outcome: ({ message }, _, __, { sessionId }) =>
    doneTo(String(sessionId), { message, sessionId }, `gave back ${sessionId}`),
});
