import { change, command, option, productOfKey, required } from '../../command.ts';
import { doneNote } from '../../output/terminal.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { fileNotes } from './file-notes.ts';

export const keysRebind = command({
  about: 'Moves the slot of one device to another host, so that nobody takes it meanwhile.',
  operation: 'keys.rebind',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device that gives up its slot', { field: 'hostId', pick: 'device' }),
    newHostId: required('--new-host-id <ID>', 'the host that gets it', { field: 'newHostId' }),
    tag: option('--tag <TEXT>', 'a name for the new device; as the old one unless given', { field: 'deviceTag' }),
    keyCheck,
    ...change,
  },
  fields: ['message', 'device', 'files', 'idempotencyKey'].map((name) => ({ name })),
  examples: [['lkm keys rebind "$KEY" --host-id old-pc --new-host-id new-pc', 'to a new machine']],

  async run({ key, product, hostId, newHostId, tag }, context) {
    const productId = await context.productOf(key, product);
    const changed = await context.change((client, call) =>
      client.keys.rebind({ productId, licenseKey: key, hostId, newHostId, deviceTag: tag }, call),
    );
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'done',
      data: { ...answer, files: answer.files ?? [], idempotencyKey },
      quiet: [newHostId],
      notes: [
        doneNote(changed, `moved the slot of ${hostId} to ${newHostId}`),
        ...fileNotes(answer.files ?? [], context.io.now()),
      ],
      idempotencyKey,
    };
  },
});
