import { signRequest } from '../../../client/session-signature.ts';
import { change, command } from '../../command.ts';
import { doneNote } from '../../output/terminal.ts';
import { readSession, sessionFileArgument } from '../../values/session-file.ts';

export const keysCheckin = command({
  about: 'Gives the seat of a session back before its lease ends.',
  operation: 'keys.checkin',
  arguments: { file: sessionFileArgument },
  options: change,
  fields: [{ name: 'message' }, { name: 'sessionId' }, { name: 'idempotencyKey' }],
  examples: [['lkm keys checkin session.json', 'the seat is free at once']],

  async run({ file }, context) {
    const session = await readSession(file, context.io);
    const { productId, licenseKey, sessionId } = session;
    const changed = await context.change((client, call) =>
      client.keys.checkin({ productId, licenseKey, ...signRequest(session) }, call),
    );
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'done',
      data: { message: answer.message, sessionId, idempotencyKey },
      quiet: [sessionId],
      notes: [doneNote(changed, `gave back ${sessionId}`)],
      idempotencyKey,
    };
  },
});
