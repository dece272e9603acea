import { flag, option, productOfKey, required, yes } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { type Note, warningNotes } from '../../output/terminal.ts';
import { momentAndWhen, usage } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { changeCommand, confirmChange } from '../forms.ts';
import { doneTo } from '../results.ts';

export const keysActivate = changeCommand({
  about: 'Makes a host a device of a key, which takes a slot. A host that has a slot keeps it.',
  operation: 'keys.activate',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device', { field: 'hostId' }),
    tag: option('--tag <TEXT>', 'a name for a new device', { field: 'deviceTag' }),
    keyCheck,
  },
  fields: ['message', 'device', 'activations', 'maxActivations', 'idempotencyKey'],
  examples: [['lkm keys activate "$KEY" --host-id build-01 --tag "build agent"', 'a slot for a device']],

  outcome(answer, { hostId }) {
    const { activations, maxActivations } = answer;
    const done = `activated ${hostId} · ${usage(activations, maxActivations)} slots taken`;
    return doneTo(hostId, answer, done, warningNotes(answer));
  },
});

export const keysDeactivate = changeCommand({
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
  },
  fields: ['message', 'hostId', 'files', 'idempotencyKey'],
  examples: [
    ['lkm keys deactivate "$KEY" --host-id build-01', 'free one device'],
    ['lkm keys deactivate "$KEY" --all-devices --yes', 'free them all, in a script'],
  ],

  async prepare({ key, product, hostId, allDevices, yes }, context) {
    if ((hostId === undefined) !== allDevices) {
      throw new UsageError('choose what to free: --host-id ID for one device, or --all-devices');
    }
    await confirmChange(yes || !allDevices, context, {
      about: async (client) => {
        const { devices } = (await client.keys.get({ productId: product, licenseKey: key })).license;
        return devices.map(({ hostId, deviceTag }) => `  ${hostId}  ${deviceTag}`);
      },
      question: 'free all devices?',
      action: 'freeing all devices',
    });
  },
  outcome: ({ message, files = [] }, { hostId }, { io }) => ({
    kind: 'done',
    data: { message, hostId: hostId ?? null, files },
    quiet: hostId === undefined ? [] : [hostId],
    done: `freed ${hostId ?? 'all devices'}`,
    notes: fileNotes(files, io.now()),
  }),
});

export const keysRebind = changeCommand({
  about: 'Moves the slot of one device to another host, so that nobody takes it meanwhile.',
  operation: 'keys.rebind',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device that gives up its slot', { field: 'hostId', pick: 'device' }),
    newHostId: required('--new-host-id <ID>', 'the host that gets it', { field: 'newHostId' }),
    tag: option('--tag <TEXT>', 'a name for the new device; as the old one unless given', { field: 'deviceTag' }),
    keyCheck,
  },
  fields: ['message', 'device', 'files', 'idempotencyKey'],
  examples: [['lkm keys rebind "$KEY" --host-id old-pc --new-host-id new-pc', 'to a new machine']],

  outcome({ files = [], ...answer }, { hostId, newHostId }, { io }) {
    const done = `moved the slot of ${hostId} to ${newHostId}`;
    return doneTo(newHostId, { ...answer, files }, done, fileNotes(files, io.now()));
  },
});

/** What freeing a device cannot undo: a licence file verifies without the service. */
function fileNotes(files: readonly { readonly hostId: string; readonly endsAt: string }[], now: number): Note[] {
  const lastEnds = new Map<string, string>();
  for (const { hostId, endsAt } of files) {
    if (endsAt > (lastEnds.get(hostId) ?? '')) lastEnds.set(hostId, endsAt);
  }
  const notes = [...lastEnds].map(([hostId, endsAt]): Note => {
    const end = momentAndWhen(endsAt, now);
    return { tone: 'warning', text: `a licence file for ${hostId} still counts until its end: ${end}` };
  });
  if (notes.length === 0) return [];
  return [...notes, { tone: 'hint', text: 'only software that reads the list of lkm revocations export refuses it' }];
}
