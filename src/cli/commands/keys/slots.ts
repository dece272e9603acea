import { flag, option, productNeeded, productOfKey, required } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { type Note, warningNotes } from '../../output/terminal.ts';
import { moment, momentAndWhen, usage } from '../../output/words.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { changeCommand } from '../forms.ts';
import { doneTo, secretValue } from '../results.ts';
import { components, fingerprintIn } from './key-options.ts';

export const keysActivate = changeCommand({
  about:
    'Makes a host a device of a key, which takes a slot. A host that has a slot keeps it; one that has left its slot this ' +
    'year comes back to it.',
  operation: 'keys.activate',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device'),
    deviceTag: option('--tag <TEXT>', 'a name for a new device'),
    components,
    keyCheck,
  },
  fields: ['message', 'device', 'activations', 'maxActivations', 'idempotencyKey'],
  examples: [['lkm keys activate "$KEY" --host-id build-01 --tag "build agent"', 'a slot for a device']],

  prepare: fingerprintIn,
  outcome(answer, { hostId: asked }) {
    const { activations, maxActivations } = answer;
    const { hostId } = answer.device;
    const known = hostId === asked ? '' : ` · ${asked} is ${hostId} by its components`;
    const done = `activated ${hostId}${known} · ${usage(activations, maxActivations)} slots taken`;
    return doneTo(hostId, answer, done, warningNotes(answer));
  },
});

export const keysTrial = changeCommand({
  about:
    'Starts the trial of a device, once for a product, and prints its key. While the trial runs, the same key is printed; ' +
    'after it, the device gets no other.',
  operation: 'keys.trial',
  options: {
    product: productNeeded,
    plan: required('--plan <ID|NAME>', 'the plan for trials', { field: 'planId', takesName: true }),
    hostId: required('--host-id <ID>', 'the device'),
    deviceTag: option('--tag <TEXT>', 'a name for the device'),
  },
  fields: ['key', 'message', 'expirationDate', 'device'],
  examples: [['lkm keys trial -P "$ID" --plan Trial --host-id pc-7', 'fourteen days, if the plan says so']],

  outcome(answer, { hostId }) {
    const { key, message, expirationDate } = answer;
    const done = `${message.toLowerCase()} on ${hostId} · expires ${moment(expirationDate)}`;
    return { ...secretValue(key, answer), done };
  },
});

export const keysDeactivate = changeCommand({
  about:
    'Frees the slot of one device of a key, or of all its devices. A slot that an application frees with a client token ' +
    'stays promised to its host until the year ends; what you free with another token is free.',
  operation: 'keys.deactivate',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: option('--host-id <ID>', 'the device to free', { pick: 'device', neededUnless: 'allDevices' }),
    allDevices: flag('--all-devices', 'free every device; asks first'),
    keyCheck,
  },
  fields: ['message', 'hostId', 'files', 'idempotencyKey'],
  examples: [
    ['lkm keys deactivate "$KEY" --host-id build-01', 'free one device'],
    ['lkm keys deactivate "$KEY" --all-devices --yes', 'free them all, in a script'],
  ],

  prepare({ hostId, allDevices }) {
    if ((hostId === undefined) === allDevices) return undefined;
    throw new UsageError('choose: --host-id ID frees one device, --all-devices frees all');
  },
  asks: ({ key, product, allDevices }) =>
    allDevices
      ? {
          async about(client) {
            const { license } = await client.keys.get({ productId: product, licenseKey: key });
            return license.devices.map(({ hostId, deviceTag }) => `  ${hostId}  ${deviceTag}`);
          },
          question: 'free all devices?',
          action: 'freeing all devices',
        }
      : null,
  outcome({ message, files = [] }, { hostId = null }, { io }) {
    const freed = doneTo(hostId ?? '', { message, hostId, files }, `freed ${hostId ?? 'all devices'}`);
    return { ...freed, quiet: hostId === null ? [] : [hostId], notes: fileNotes(files, io.now()) };
  },
});

export const keysRebind = changeCommand({
  about:
    'Moves the slot of one device to another host, so that nobody takes it meanwhile. With a client token this counts as ' +
    'one of three moves of the year, where the key has a limit.',
  operation: 'keys.rebind',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device that gives up its slot', { pick: 'device' }),
    newHostId: required('--new-host-id <ID>', 'the host that gets it'),
    deviceTag: option('--tag <TEXT>', 'a name for the new device; as the old one unless given'),
    keyCheck,
  },
  fields: ['message', 'device', 'files', 'idempotencyKey'],
  examples: [['lkm keys rebind "$KEY" --host-id old-pc --new-host-id new-pc', 'to a new machine']],

  outcome({ files = [], ...answer }, { hostId, newHostId }, { io }) {
    const done = `moved the slot of ${hostId} to ${newHostId}`;
    return doneTo(newHostId, { ...answer, files }, done, fileNotes(files, io.now()));
  },
});

/** A freed device keeps its licence file, which verifies without the service. */
function fileNotes(files: readonly { readonly hostId: string; readonly endsAt: string }[], now: number): Note[] {
  const sorted = files.toSorted((one, other) => (one.endsAt < other.endsAt ? -1 : 1));
  const lastEnds = new Map(sorted.map(({ hostId, endsAt }) => [hostId, endsAt]));
  const notes = [...lastEnds].map(([hostId, endsAt]): Note => {
    return {
      tone: 'warning',
      text: `a licence file for ${hostId} still counts until it expires: ${momentAndWhen(endsAt, now)}`,
    };
  });
  if (notes.length === 0) return [];
  return [...notes, { tone: 'hint', text: 'only software that reads the list of lkm revocations export refuses it' }];
}
