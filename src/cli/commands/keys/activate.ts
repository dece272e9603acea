import { change, command, option, productOfKey, required } from '../../command.ts';
import { doneNote, warningNotes } from '../../output/terminal.ts';
import { usage } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';

export const keysActivate = command({
  about: 'Makes a host a device of a key, which takes a slot. A host that has a slot keeps it.',
  operation: 'keys.activate',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device', { field: 'hostId' }),
    tag: option('--tag <TEXT>', 'a name for a new device', { field: 'deviceTag' }),
    keyCheck,
    ...change,
  },
  fields: ['message', 'device', 'activations', 'maxActivations', 'idempotencyKey'].map((name) => ({ name })),
  examples: [['lkm keys activate "$KEY" --host-id build-01 --tag "build agent"', 'a slot for a device']],

  async run({ key, product, hostId, tag }, context) {
    const productId = await context.productOf(key, product);
    const changed = await context.change((client, call) =>
      client.keys.activate({ productId, licenseKey: key, hostId, deviceTag: tag }, call),
    );
    const { answer, idempotencyKey } = changed;
    const { activations, maxActivations } = answer;
    return {
      kind: 'done',
      data: { ...answer, idempotencyKey },
      quiet: [hostId],
      notes: [
        doneNote(changed, `activated ${hostId} · ${usage(activations, maxActivations)} slots taken`),
        ...warningNotes(answer),
      ],
      idempotencyKey,
    };
  },
});
