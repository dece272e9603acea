import { option, productOfKey, required } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { UsageError } from '../../failure/errors.ts';
import { warningNotes } from '../../output/terminal.ts';
import { duration } from '../../output/words.ts';
import { parseSeconds } from '../../values/duration.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';
import { changeCommand } from '../forms.ts';
import type { Outcome } from '../results.ts';
import { components, fingerprintIn } from './key-options.ts';

export const ttl = option('--ttl <DUR>', 'how long the file lasts; needed when the key never expires', parseSeconds);

export const keysSign = changeCommand({
  about: 'Makes a signed licence file for one device, which takes a slot unless the device has one.',
  operation: 'keys.sign',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device the file is for'),
    ttl,
    components,
    keyCheck,
  },
  fields: ['file', 'path', 'hostId', 'ttl', 'idempotencyKey'],
  examples: [
    ['lkm keys sign "$KEY" --host-id build-01 --ttl 30d -o build-01.lic', 'a file for thirty days'],
    ['lkm keys sign "$KEY" --host-id pc-7 -o - | ssh pc-7 tee app.lic', 'straight to the device'],
  ],

  prepare(values, context) {
    refuseScreen(context);
    return fingerprintIn(values, context);
  },
  outcome: (answer, { hostId, ttl }, context) => signedFile(answer, { hostId, ttl }, context),
});

/** The file may be for another device than the given one, if its components name a known device. */
export async function signedFile(
  answer: { readonly file: string; readonly warning?: string | undefined },
  { hostId: asked, ttl = null }: { readonly hostId: string; readonly ttl?: number | null | undefined },
  { settings: { output: path } }: Pick<CommandContext, 'settings'>,
): Promise<Outcome> {
  const { readLicenseEnvelope } = await import('../../../domain/license-file/verify.ts');
  const hostId = readLicenseEnvelope(answer.file)?.claims.machine ?? asked;
  const known = hostId === asked ? '' : ` · ${asked} is ${hostId} by its components`;
  const life = ttl === null ? '' : ` · lasts ${duration(ttl)} at most`;
  const done = `${path === null ? 'signed' : `wrote ${path}`} · for ${hostId}${known}${life}`;
  return {
    kind: 'file',
    content: answer.file,
    data: { ...(path === null ? { file: answer.file } : { path }), hostId, ttl },
    quiet: path === null ? [answer.file] : [],
    secret: true,
    done,
    already: `already ${path === null ? '' : 'signed · '}${done}`,
    notes: warningNotes(answer),
  };
}

/** A licence file is useless on a terminal. */
export function refuseScreen({ io, settings, flags, dryRun }: CommandContext): void {
  if (!io.stdout.isTTY || flags.output !== undefined || settings.format !== 'table' || dryRun) return;
  throw new UsageError('a licence file belongs in a file: name it with -o', [
    ['To a file:', '-o device.lic'],
    ['To the screen:', '-o -'],
  ]);
}
