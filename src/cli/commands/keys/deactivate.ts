import { change, command, flag, option, productOfKey, yes } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import { doneNote } from '../../output/terminal.ts';
import { count } from '../../output/words.ts';
import { confirm } from '../../prompts/questions.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { fileNotes } from './file-notes.ts';

export const keysDeactivate = command({
  about: 'Frees the slot of one device of a key, or of all its devices.',
  operation: 'keys.deactivate',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: option('--host-id <ID>', 'the device to free', {
      field: 'hostId',
      pick: 'device',
      neededUnless: 'allDevices',
    }),
    allDevices: flag('--all-devices', 'free every device; asks first'),
    yes,
    keyCheck,
    ...change,
  },
  fields: [{ name: 'message' }, { name: 'hostId' }, { name: 'files' }, { name: 'idempotencyKey' }],
  examples: [
    ['lkm keys deactivate "$KEY" --host-id build-01', 'free one device'],
    ['lkm keys deactivate "$KEY" --all-devices --yes', 'free them all, in a script'],
  ],

  async run({ key, product, hostId, allDevices, yes }, context) {
    if ((hostId === undefined) !== allDevices) {
      throw new UsageError('choose what to free: --host-id ID for one device, or --all-devices');
    }
    if (allDevices && !yes && !context.dryRun) await confirmAll(context, { productId: product, licenseKey: key });
    const address = { productId: await context.productOf(key, product), licenseKey: key };
    const changed = await context.change((client, call) => client.keys.deactivate({ ...address, hostId }, call));
    const { answer, idempotencyKey } = changed;
    return {
      kind: 'done',
      data: { message: answer.message, hostId: hostId ?? null, files: answer.files ?? [], idempotencyKey },
      quiet: hostId === undefined ? [] : [hostId],
      notes: [
        doneNote(changed, `freed ${hostId ?? 'all devices'}`),
        ...fileNotes(answer.files ?? [], context.io.now()),
      ],
      idempotencyKey,
    };
  },
});

async function confirmAll(
  context: CommandContext,
  address: { productId: string | undefined; licenseKey: string },
): Promise<void> {
  const asked = { action: 'freeing all devices', flag: '--yes' };
  if (!context.settings.interactive) return confirm(context, { ...asked, about: [], question: '' });
  const client = await context.client();
  const { devices } = (await client.keys.get(address)).license;
  await confirm(context, {
    ...asked,
    about: devices.map(({ hostId, deviceTag }) => `  ${hostId}  ${deviceTag}`),
    question: `free ${count(devices.length, 'device')}?`,
  });
}
