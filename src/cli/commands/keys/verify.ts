import type { Jwk } from '../../../contract/signing-keys.ts';
import type { Verdict, Verification, VerifyOptions } from '../../../domain/license-file/verify.ts';
import { argument, command, option } from '../../command.ts';
import { writeAtomically } from '../../config/files.ts';
import { exitCodes, LocalError, ofForm, onDisk, UsageError, verdictExitCodes } from '../../failure/errors.ts';
import type { Io } from '../../io.ts';
import type { Note } from '../../output/terminal.ts';
import { momentAndWhen } from '../../output/words.ts';
import { publishedKeys } from '../../request/published-keys.ts';
import { readIfPresent, readText } from '../../values/files.ts';
import { hintsOf, singleValue } from '../results.ts';

export const keysVerify = command({
  about:
    'Checks a licence file against the public keys and the revocation list of the service, and prints the verdict: ok, or ' +
    'what is wrong with it. While the service cannot be reached, those count that it gave last, for 30 days.',
  operation: 'signingKeys.jwks',
  arguments: { file: argument('<FILE>', 'the licence file, - for stdin') },
  options: {
    hostId: option('--host-id <ID>', 'the device it must be for'),
    product: option('-P, --product <ID>', 'the product it must be for', { env: 'LKM_PRODUCT' }),
    nonce: option('--nonce <TEXT>', 'the nonce that the application must have sent'),
    jwks: option('--jwks <FILE>', 'public keys from a file; nothing is asked of the service'),
    revocations: option('--revocations <FILE>', 'the list of revoked files from a file, from lkm revocations export'),
    watermark: option('--watermark <FILE>', 'keeps the latest time seen, so that a clock set back is found'),
  },
  fields: ['verdict', 'claims', 'watermark', 'keysKeptAt'],
  examples: [
    ['lkm keys verify build-01.lic --host-id build-01', 'ask the service'],
    ['lkm keys verify build-01.lic --jwks jwks.json', 'offline; exit code 5 unless ok'],
    ['lkm keys verify a.lic --jwks jwks.json --revocations rev.jwt', 'offline, with revoked files refused'],
  ],

  async run({ file, hostId, product, nonce, jwks, revocations: listPath, watermark: watermarkPath }, context) {
    const { io } = context;
    const { hasKeyShape } = await import('../../../domain/license-key.ts');
    if (hasKeyShape(file)) {
      throw new UsageError('a licence file is verified, and this is a licence key', [
        ['Is it active?', 'lkm keys get KEY'],
        ['May a device use it?', 'lkm keys why KEY --host-id ID'],
      ]);
    }
    const text = await readText(file, io);
    const list = listPath === undefined ? undefined : await readText(listPath, io);
    const published =
      jwks === undefined ? await publishedKeys(context) : { keys: await readKeys(jwks, io), kept: null };
    const { keys, revocations, kept } = { ...published, ...(list !== undefined && { revocations: list }) };
    const known = watermarkPath === undefined ? undefined : readWatermark(watermarkPath, io);
    const { toInstant } = await import('../../../domain/time.ts');
    const now = toInstant(io.now());
    const verified = await verify(text, {
      keys,
      now,
      hostId,
      productId: product,
      nonce,
      revocations,
      watermark: known,
    });
    const { verdict, claims, watermark } = verified;
    if (watermarkPath !== undefined && watermark !== known) {
      onDisk(`write ${watermarkPath}`, () => writeAtomically(watermarkPath, `${watermark}\n`, 0o644, io));
    }
    const claimed =
      claims && `for ${claims.machine} · expires ${momentAndWhen(toInstant(claims.exp * 1000), io.now())}`;
    const ahead =
      verdict === 'clock_rolled_back' && known !== undefined && known * 1000 > io.now()
        ? `${watermarkPath} holds ${toInstant(known * 1000)}, the latest time seen here. If that was wrong, remove the file.`
        : null;
    const away = kept && `no answer from ${kept.host}; verified with its keys of ${momentAndWhen(kept.at, io.now())}`;
    const notes: Note[] = [
      ...(away === null ? [] : [{ tone: 'warning', text: away } as const]),
      ...hintsOf([explanations[verdict], ahead, claimed].filter((text) => text !== null)),
    ];
    const data = { verdict, claims, watermark, revocations: verified.revocations, keysKeptAt: kept?.at ?? null };
    return {
      ...singleValue(verdict, data, notes),
      exitCode: verdict === 'ok' ? exitCodes.ok : verdictExitCodes.notAccepted,
    };
  },
});

/** The meaning of each verdict. */
const explanations: Readonly<Record<Verdict, string | null>> = {
  ok: null,
  token_malformed: 'this is not a licence file of lkm, or it was damaged: get it again with lkm keys sign',
  unknown_kid:
    'no public key given here has signed it: use the keys of the service that signed it (--jwks, --base-url)',
  signature_invalid: 'its content was changed after it was signed: do not trust it; get it again with lkm keys sign',
  revocations_invalid: 'the revocation list belongs to another account than the file: export it again',
  revocations_expired: 'the revocation list is too old: get a new one with lkm revocations export',
  revoked: 'its device was freed, or its key blocked or deleted: get a new one with lkm keys sign',
  clock_rolled_back: 'the clock of this machine was set back: correct it',
  not_yet_valid: 'it is not valid yet: check the clock of this machine',
  token_expired: 'its time is over: get a new one with lkm keys sign',
  machine_mismatch: 'it is for another device than --host-id: sign a file for this device with lkm keys sign',
  product_mismatch: 'it is for another product than --product',
  nonce_mismatch: 'it was not asked for with --nonce',
};

async function verify(text: string, options: VerifyOptions): Promise<Verification> {
  const { verifyLicenseFile } = await import('../../../domain/license-file/verify.ts');
  const message = 'one of the public keys is not an Ed25519 key';
  return ofForm(message, ['Get them again from the service.'], () => verifyLicenseFile(text, options));
}

/** Whole seconds since 1970; undefined if there is none yet. Throws `LocalError`. */
function readWatermark(path: string, io: Io): number | undefined {
  const text = readIfPresent(path, io)?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new LocalError(`${path} holds no watermark`, ['It holds a number of seconds since 1970.']);
}

async function readKeys(path: string, io: Io): Promise<readonly Jwk[]> {
  const text = await readText(path, io);
  const { signingKeys } = await import('../../../contract/signing-keys.ts');
  return ofForm(
    `${path} holds no public keys`,
    ['It has the form of /.well-known/jwks.json.'],
    () => signingKeys.jwks.reply.unwrap(JSON.parse(text)).keys,
  );
}
