import { signRequest } from '../../../client/session-signature.ts';
import { change, command } from '../../command.ts';
import { doneNote } from '../../output/terminal.ts';
import { momentAndWhen } from '../../output/words.ts';
import { readSession, sessionFileArgument } from '../../values/session-file.ts';

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
    const changed = await context.change((client, call) =>
      client.keys.heartbeat({ productId, licenseKey, ...signRequest(session) }, call),
    );
    const { answer, idempotencyKey } = changed;
    const { expiresAt, nextNonce } = answer;
    await update.write({ expiresAt, nextNonce });
    const prolonged = { sessionId, expiresAt, nextNonce, idempotencyKey };
    return {
      kind: 'record',
      row: prolonged,
      data: prolonged,
      quiet: [sessionId],
      idempotencyKey,
      notes: [doneNote(changed, 'prolonged')],
    };
  },
});
