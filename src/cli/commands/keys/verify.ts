import type { Jwk } from '../../../contract/signing-keys.ts';
import { argument, command, option } from '../../command.ts';
import type { CommandContext } from '../../context.ts';
import { LocalError } from '../../failure/errors.ts';
import { exitCodes } from '../../failure/exit-codes.ts';
import type { Note } from '../../output/result.ts';
import { momentAndWhen } from '../../output/words.ts';
import { readSource } from '../../values/text-source.ts';

export const keysVerify = command({
  path: 'keys verify',
  about: 'Checks a licence file against public keys and prints the verdict: ok, or what is wrong with it.',
  operation: 'signingKeys.jwks',
  arguments: { file: argument('<FILE>', 'the licence file, - for stdin') },
  options: {
    hostId: option('--host-id <ID>', 'the device it must be for'),
    product: option('-P, --product <ID>', 'the product it must be for', { env: 'LKM_PRODUCT' }),
    jwks: option('--jwks <FILE>', 'public keys from a file, not from the service'),
  },
  fields: [{ name: 'verdict' }, { name: 'claims' }],
  examples: [
    ['lkm keys verify build-01.lic --host-id build-01', 'ask the service for its public keys'],
    ['lkm keys verify build-01.lic --jwks jwks.json', 'offline; exit code 5 unless ok'],
  ],

  async run({ file, hostId, product, jwks }, context) {
    const { io } = context;
    const text = await readSource(file, io);
    const keys = jwks === undefined ? await fetchKeys(context) : await readKeys(jwks, context);
    const [{ verifyLicenseFile }, { toInstant }] = await Promise.all([
      import('../../../domain/verify-license-file.ts'),
      import('../../../domain/time.ts'),
    ]);
    const now = toInstant(io.now());
    const { verdict, claims } = verifyLicenseFile(text, { keys, now, hostId, productId: product });
    const notes: Note[] = claims
      ? [
          {
            tone: 'hint',
            text: `for ${claims.machine} · ends ${momentAndWhen(toInstant(claims.exp * 1000), io.now())}`,
          },
        ]
      : [];
    const exitCode = verdict === 'ok' ? exitCodes.ok : exitCodes.forbidden;
    return { kind: 'value', value: verdict, data: { verdict, claims }, quiet: [verdict], notes, exitCode };
  },
});

async function fetchKeys(context: CommandContext): Promise<readonly Jwk[]> {
  const client = await context.client({ needsToken: false });
  return (await client.signingKeys.jwks()).keys;
}

async function readKeys(path: string, { io }: CommandContext): Promise<readonly Jwk[]> {
  const text = await readSource(path, io);
  const { signingKeys } = await import('../../../contract/signing-keys.ts');
  try {
    return signingKeys.jwks.reply.unwrap(JSON.parse(text)).keys;
  } catch (error) {
    throw new LocalError(`${path} holds no public keys`, ['It has the form of /.well-known/jwks.json.'], {
      cause: error,
    });
  }
}
