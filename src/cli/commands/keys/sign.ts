import { change, command, option, productOfKey, required } from '../../command.ts';
import { UsageError } from '../../failure/errors.ts';
import { doneNote, warningNotes } from '../../output/terminal.ts';
import { duration } from '../../output/words.ts';
import { parseSeconds } from '../../values/duration.ts';
import { keyCheck, licenseKeyArgument } from '../../values/license-key.ts';

export const keysSign = command({
  about: 'Makes a signed licence file for one device, which takes a slot unless the device has one.',
  operation: 'keys.sign',
  arguments: { key: licenseKeyArgument },
  options: {
    product: productOfKey,
    hostId: required('--host-id <ID>', 'the device the file is for', { field: 'hostId' }),
    ttl: option('--ttl <DUR>', 'how long the file lasts; needed when the key never expires', {
      parse: parseSeconds,
      field: 'ttl',
    }),
    keyCheck,
    ...change,
  },
  fields: [{ name: 'file' }, { name: 'path' }, { name: 'hostId' }, { name: 'ttl' }, { name: 'idempotencyKey' }],
  examples: [
    ['lkm keys sign "$KEY" --host-id build-01 --ttl 30d -o build-01.lic', 'a file for thirty days'],
    ['lkm keys sign "$KEY" --host-id pc-7 -o - | ssh pc-7 tee app.lic', 'straight to the device'],
  ],

  async run({ key, product, hostId, ttl }, context) {
    const { io, settings, flags } = context;
    const path = settings.output;
    if (io.stdout.isTTY && flags.output === undefined && settings.format === 'table' && !context.dryRun) {
      throw new UsageError('a licence file belongs in a file: name it with -o', [
        ['To a file:', '-o device.lic'],
        ['To the screen:', '-o -'],
      ]);
    }
    const productId = await context.productOf(key, product);
    const changed = await context.change((client, call) =>
      client.keys.sign({ productId, licenseKey: key, hostId, ttl }, call),
    );
    const { answer, idempotencyKey } = changed;
    const life = ttl === undefined ? '' : ` · lasts ${duration(ttl)} at most`;
    const done = `${path === null ? 'signed' : `wrote ${path}`} · for ${hostId}${life}`;
    return {
      kind: 'file',
      content: answer.file,
      data: { ...(path === null ? { file: answer.file } : { path }), hostId, ttl: ttl ?? null, idempotencyKey },
      quiet: path === null ? [answer.file] : [],
      secret: true,
      idempotencyKey,
      notes: [doneNote(changed, done, `already ${path === null ? '' : 'signed · '}${done}`), ...warningNotes(answer)],
    };
  },
});
