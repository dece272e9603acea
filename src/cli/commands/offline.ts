import { resolve } from 'node:path';
import { argument, command, option, required } from '../command.ts';
import { writeAtomically } from '../config/files.ts';
import { ofForm, onDisk, UsageError } from '../failure/errors.ts';
import type { Io } from '../io.ts';
import type { CommandResult } from '../output/result.ts';
import { readIfPresent, readLocalFile, readText } from '../values/files.ts';
import { keyCheck, licenseKeyArgument } from '../values/license-key.ts';
import { changeCommand } from './forms.ts';
import { refuseScreen, signedFile, ttl } from './keys/sign.ts';
import { defined, doneTo, type Fields } from './results.ts';

const deviceKey = (describe: string) => required('--device-key <FILE>', describe);

export const offlineRequest = command({
  about:
    'On a device without a network: writes a request for a licence file, to be carried to where the service is. Makes the ' +
    'key of the device, which stays on it, unless there is one.',
  operation: 'keys.sign',
  isLocal: true,
  arguments: { key: licenseKeyArgument },
  options: {
    product: option('-P, --product <ID>', 'its product, if the device knows it', { env: 'LKM_PRODUCT' }),
    hostId: required('--host-id <ID>', 'the device'),
    deviceKey: deviceKey('where the key of the device is kept'),
    keyCheck,
  },
  fields: ['request', 'path'],
  examples: [
    ['lkm offline request "$KEY" --host-id pc-7 --device-key pc-7.pem -o pc-7.json', 'then carry pc-7.json there'],
  ],

  async run({ key, product: productId, hostId, deviceKey: path }, { io, settings: { output } }) {
    refuseSame(path, output, io);
    const { createDeviceKey, readDeviceKey } = await import('../../license-file.ts');
    const { writeOfflineRequest } = await import('../../domain/license-file/offline.ts');
    const known = readIfPresent(path, io);
    const { privateKey, publicKey } =
      known === undefined ? createDeviceKey() : orNoKey(path, () => readDeviceKey(known));
    if (known === undefined) onDisk(`write ${path}`, () => writeAtomically(path, privateKey, 0o600, io));
    const request = writeOfflineRequest({ licenseKey: key, hostId, publicKey, productId });
    return written(request, { request }, output, 'for lkm offline answer; it holds the key: keep it secret');
  },
});

export const offlineAnswer = changeCommand({
  about: 'With the service: signs the licence file that a device without a network asks for, to be carried back to it.',
  operation: 'keys.sign',
  arguments: { file: argument('<FILE>', 'the request of the device, - for stdin') },
  options: { ttl },
  fields: ['file', 'path', 'hostId', 'ttl'],
  examples: [['lkm offline answer pc-7.json -o pc-7.lic', 'then carry pc-7.lic back']],

  async prepare({ file }, context) {
    refuseScreen(context);
    const { readOfflineRequest } = await import('../../domain/license-file/offline.ts');
    const request = readOfflineRequest(await readText(file, context.io));
    // A missing product is looked up by the key.
    if (request !== null) return defined(request);
    throw new UsageError(`${file} is no request of a device`, [['Made by:', 'lkm offline request KEY']]);
  },
  outcome: (answer, { ttl }, context, { hostId }) => signedFile(answer, { hostId: String(hostId), ttl }, context),
});

export const offlineRelease = command({
  about:
    'On a device without a network: signs that it gives up its licence file, with the key that this was asked for with. The ' +
    'proof is to be carried to where the service is.',
  operation: 'keys.deactivateOffline',
  isLocal: true,
  arguments: { file: argument('<FILE>', 'the licence file') },
  options: { deviceKey: deviceKey('the key of the device') },
  fields: ['proof', 'path'],
  examples: [['lkm offline release pc-7.lic --device-key pc-7.pem -o pc-7.proof', 'then carry pc-7.proof there']],

  async run({ file, deviceKey: path }, { io, settings: { output } }) {
    refuseSame(path, output, io);
    const { createDeactivationProof } = await import('../../license-file.ts');
    const licenseFile = await readText(file, io);
    const privateKey = readLocalFile(path, io);
    const now = new Date(io.now());
    const { readLicenseEnvelope } = await import('../../domain/license-file/verify.ts');
    if (readLicenseEnvelope(licenseFile) === null) throw new UsageError(`${file} is no licence file of lkm`);
    const proof = orNoKey(path, () => createDeactivationProof(licenseFile, privateKey, now));
    return written(`${proof}\n`, { proof }, output, `for lkm offline accept; ${file} counts no more: delete it`);
  },
});

export const offlineAccept = changeCommand({
  about: 'With the service: frees the slot of a device that has signed that it gives up its licence file.',
  operation: 'keys.deactivateOffline',
  arguments: { file: argument('<FILE>', 'the proof of the device, - for stdin') },
  fields: ['message', 'hostId', 'files'],
  examples: [['lkm offline accept pc-7.proof', 'the slot is free']],

  async prepare({ file }, { io }) {
    const { readDeactivation } = await import('../../domain/license-file/offline.ts');
    const proof = await readText(file, io);
    const claims = readDeactivation(proof);
    if (claims === null)
      throw new UsageError(`${file} is no proof of a device`, [['Made by:', 'lkm offline release FILE']]);
    return { productId: claims.productId, licenseKey: claims.key, proof };
  },
  outcome: (answer) => doneTo(answer.hostId, answer, `freed ${answer.hostId}`),
});

/** The private key of a device exists once: it is never overwritten, even with --force. */
function refuseSame(path: string, output: string | null, { cwd }: Pick<Io, 'cwd'>): void {
  if (output === null || resolve(cwd, output) !== resolve(cwd, path)) return;
  throw new UsageError(`${path} is where the key of the device is kept: name another file with -o`);
}

function written(content: string, data: Fields, path: string | null, what: string): CommandResult {
  return {
    ...{ kind: 'file', content, data: path === null ? data : { path }, quiet: [], secret: true },
    notes: [{ tone: 'hint', text: `${path === null ? 'this is' : `wrote ${path},`} ${what}` }],
  };
}

const orNoKey = <T>(path: string, read: () => T): T =>
  ofForm(`${path} holds no Ed25519 key`, ['lkm offline request makes one, PEM.'], read);
