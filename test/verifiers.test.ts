import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../src/index.ts';
import { type ActivationVerdict, verifyActivation } from '../src/license-file.ts';
import { openInstance } from '../src/server/runtime.ts';
import { hasProgram } from './support/terminal.ts';
import { type ActivationCheck, type Check, missingTools, run, verifiers } from './verifiers.ts';

const folder = mkdtempSync(join(tmpdir(), 'lkm-verifiers-'));
const DAY = 86_400;
const nowSeconds = () => Math.floor(Date.now() / 1_000);
const started = nowSeconds();
let product = '';
let provenKey = '';

/** What is checked: a file of `makeFiles`, against what, and the verdict of every program. */
interface Case {
  readonly name: string;
  readonly file: string;
  readonly verdict: string;
  readonly host?: string;
  readonly product?: string;
  readonly jwks?: string;
  /** The name of a revocation list; none unless given. */
  readonly list?: string;
  /** How far the stored watermark is from now, in seconds; null when nothing is stored. */
  readonly watermark?: number;
}

const cases: readonly Case[] = [
  { name: 'a file in order', file: 'good', verdict: 'ok' },
  { name: 'a file in order, with a list that names others', file: 'good', list: 'list', verdict: 'ok' },
  { name: 'a file that was reformatted', file: 'spaced', jwks: 'spaced-jwks', verdict: 'ok' },
  { name: 'a file signed before a rotation', file: 'rotated', list: 'list', verdict: 'ok' },
  { name: 'a file signed after a rotation, and the keys of before', file: 'good', jwks: 'old', verdict: 'unknown_kid' },
  { name: 'a file of a freed device', file: 'freed', list: 'list', verdict: 'revoked' },
  { name: 'a file of a freed device without the list', file: 'freed', host: 'h2', verdict: 'ok' },
  { name: 'a file of a blocked licence', file: 'blocked', list: 'list', verdict: 'revoked' },
  { name: 'a file copied to another host', file: 'good', host: 'h9', verdict: 'machine_mismatch' },
  { name: 'a file for another product', file: 'good', product: 'prod_other', verdict: 'product_mismatch' },
  { name: 'one byte of the claims changed', file: 'changed', verdict: 'signature_invalid' },
  { name: 'a key on the envelope that was not signed', file: 'other-key', verdict: 'signature_invalid' },
  { name: 'a file of another service', file: 'foreign', verdict: 'unknown_kid' },
  { name: 'a file signed by another key under this kid', file: 'forged', verdict: 'signature_invalid' },
  { name: 'alg none', file: 'none', verdict: 'token_malformed' },
  { name: 'HS256 with the public key as the secret', file: 'hs256', verdict: 'token_malformed' },
  { name: 'a revocation list as the token', file: 'list-as-token', verdict: 'token_malformed' },
  { name: 'a file cut in half', file: 'half', verdict: 'token_malformed' },
  { name: 'an ended file', file: 'ended', verdict: 'token_expired' },
  { name: 'a file that begins tomorrow', file: 'early', verdict: 'not_yet_valid' },
  { name: 'a clock set back by a day', file: 'good', watermark: DAY, verdict: 'clock_rolled_back' },
  { name: 'a clock put right by half a minute', file: 'good', watermark: 30, verdict: 'ok' },
  { name: 'a clock set back before the end that was seen', file: 'ends-soon', watermark: 55, verdict: 'token_expired' },
  { name: 'a list of another service', file: 'good', list: 'foreign-list', verdict: 'revocations_invalid' },
  { name: 'a list with one byte changed', file: 'freed', list: 'changed-list', verdict: 'revocations_invalid' },
  { name: 'a licence file as the list', file: 'good', list: 'token-as-list', verdict: 'revocations_invalid' },
  { name: 'an ended list', file: 'good', list: 'ended-list', verdict: 'revocations_expired' },
];

/** A proof of `makeProofs`, what it is checked against, and the verdict. */
interface ProofCase {
  readonly name: string;
  readonly proof: string;
  readonly verdict: ActivationVerdict;
  readonly against?: Partial<Record<'jwks' | 'host' | 'product' | 'key' | 'nonce', string>>;
}

const proofCases: readonly ProofCase[] = [
  { name: 'a proof in order', proof: 'fresh', verdict: 'ok' },
  { name: 'a proof of a clock that is half a minute ahead', proof: 'ahead', verdict: 'ok' },
  {
    name: 'a proof that was kept for another request',
    proof: 'fresh',
    against: { nonce: 'another' },
    verdict: 'nonce_mismatch',
  },
  { name: 'an old proof', proof: 'old', verdict: 'token_expired' },
  { name: 'a proof of tomorrow', proof: 'early', verdict: 'not_yet_valid' },
  { name: 'a proof of another service', proof: 'foreign', verdict: 'unknown_kid' },
  { name: 'one byte of the claims changed', proof: 'changed', verdict: 'signature_invalid' },
  { name: 'another nonce put in', proof: 'other-nonce', against: { nonce: 'other' }, verdict: 'signature_invalid' },
  { name: 'a proof signed by another key under this kid', proof: 'forged', verdict: 'signature_invalid' },
  { name: 'alg none', proof: 'none', verdict: 'token_malformed' },
  { name: 'a licence token as the proof', proof: 'license-token', verdict: 'token_malformed' },
  { name: 'no proof', proof: 'empty', verdict: 'token_malformed' },
  {
    name: 'a proof for another key',
    proof: 'fresh',
    against: { key: '00000-00000-00000-00000-00000' },
    verdict: 'key_mismatch',
  },
  { name: 'a proof for another host', proof: 'fresh', against: { host: 'h9' }, verdict: 'machine_mismatch' },
  {
    name: 'a proof for another product',
    proof: 'fresh',
    against: { product: 'prod_other' },
    verdict: 'product_mismatch',
  },
];

const NONCE = 'kZ0q5mE6Yh1s-_';

beforeAll(makeFiles, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

it('runs in every language that continuous integration installs', () => {
  const required = (process.env.LKM_TEST_VERIFIERS ?? '').split(' ').filter(Boolean);
  expect(required.filter((tool) => !hasProgram(tool))).toEqual([]);
});

for (const verifier of verifiers) {
  const missing = missingTools(verifier);
  const remark = missing.length === 0 ? '' : ` (skipped: not installed: ${missing.join(', ')})`;
  describe.skipIf(missing.length > 0)(`${verifier.name}${remark}`, () => {
    const own = join(folder, verifier.name.replace(/\W/g, '-'));

    beforeAll(() => {
      mkdirSync(own);
      verifier.prepare?.(own);
    }, 120_000);

    it.each(cases)('$verdict: $name', async ({ file, host, product: wanted, jwks, list, watermark, verdict }) => {
      const seen = join(own, 'watermark');
      rmSync(seen, { force: true });
      const before = nowSeconds();
      if (watermark !== undefined) writeFileSync(seen, `${before + watermark}\n`);
      const check: Check = {
        file: path(`${file}.lic`),
        jwks: path(`${jwks ?? 'jwks'}.json`),
        host: host ?? hostOf(file),
        product: wanted ?? product,
        watermark: seen,
        revocations: list === undefined ? undefined : path(`${list}.jwt`),
      };
      expect(await run(verifier.command(own, check), own)).toEqual({
        code: verdict === 'ok' ? 0 : 5,
        stdout: `${verdict}\n`,
        stderr: '',
      });
      expect(existsSync(seen)).toBe(true);
      const known = file === 'early' ? started + DAY : before + (watermark ?? 0);
      const kept = Number(readFileSync(seen, 'utf8'));
      expect([kept >= known, kept <= Math.max(known, nowSeconds()) + (file === 'early' ? 60 : 0)]).toEqual([
        true,
        true,
      ]);
    });

    it.runIf(verifier.activation)('checks proofs of activations', async () => {
      const verdicts = await Promise.all(
        proofCases.map((one) => run(verifier.activation?.(own, checkOf(one)) ?? [], own)),
      );
      expect(verdicts).toEqual(
        proofCases.map(({ verdict }) => ({ code: verdict === 'ok' ? 0 : 5, stdout: `${verdict}\n`, stderr: '' })),
      );
    });
  });
}

it.each(proofCases)('verifyActivation: $verdict: $name', (one) => {
  const { proof, jwks, host, key, nonce, product: productId } = checkOf(one);
  const { keys } = JSON.parse(readFileSync(jwks, 'utf8'));
  const expected = { keys, nonce, licenseKey: key, hostId: host, productId };
  expect(verifyActivation(readFileSync(proof, 'utf8').trim(), expected).verdict).toBe(one.verdict);
});

const checkOf = ({ proof, against }: ProofCase): ActivationCheck => ({
  ...{ proof: path(`${proof}.proof`), jwks: path('jwks.json'), host: 'h1', product, key: provenKey, nonce: NONCE },
  ...against,
});

const path = (name: string): string => join(folder, name);

/** The device that a file is for. */
const hostOf = (file: string): string => (file === 'freed' ? 'h2' : 'h1');

/** Has two real services sign files and lists, at times that the test sets, and changes some of what they signed. */
async function makeFiles(): Promise<void> {
  const ours = await openService('ours.db');
  product = (await ours.client.products.create({ name: 'Engine Pro' })).id;
  const features = { 'a, b': 'x: "y"', exp: 1, machine: 'h9', iat: 9_999_999_999 };
  const newKey = async () =>
    (await ours.client.keys.create({ productId: product, expiryDate: null, metadata: { features } })).key;
  const licenseKey = await newKey();
  const sign = async (name: string, hostId: string, { key = licenseKey, ttl = DAY, at = 0 } = {}) => {
    ours.setClock(at);
    const { file } = await ours.client.keys.sign({ productId: product, licenseKey: key, hostId, ttl });
    ours.setClock(0);
    writeFileSync(path(`${name}.lic`), file);
    return file;
  };
  const save = (name: string, text: string) => writeFileSync(path(name), text);

  await sign('rotated', 'h1');
  save('old.json', JSON.stringify(await ours.client.signingKeys.jwks()));
  await ours.client.signingKeys.rotate();
  const jwks = await ours.client.signingKeys.jwks();
  save('jwks.json', JSON.stringify(jwks));
  save('spaced-jwks.json', JSON.stringify(jwks, null, '\t').replaceAll('\n', '\r\n'));

  const good = JSON.parse(await sign('good', 'h1'));
  save('spaced.lic', `\n${JSON.stringify(good, null, 2)}\n`);
  await sign('ended', 'h1', { ttl: 60, at: -2 * DAY });
  await sign('early', 'h1', { ttl: 2 * DAY, at: DAY });
  await sign('ends-soon', 'h1', { ttl: 60, at: -20 });
  await sign('freed', 'h2');
  const blockedKey = await newKey();
  await sign('blocked', 'h1', { key: blockedKey });

  const activate = async (name: string, at = 0) => {
    ours.setClock(at);
    const request = { productId: product, licenseKey, hostId: 'h1', nonce: NONCE };
    const { proof = '' } = await ours.client.keys.activate(request);
    ours.setClock(0);
    save(`${name}.proof`, `${proof}\n`);
    return proof;
  };
  provenKey = licenseKey;
  const fresh = await activate('fresh');
  await activate('ahead', 30);
  await activate('old', -301);
  await activate('early', DAY);
  save(
    'changed.proof',
    changeClaims(fresh, (claims) => ({ ...claims, exp: Number(claims.exp) + DAY })),
  );
  save(
    'other-nonce.proof',
    changeClaims(fresh, (claims) => ({ ...claims, nonce: 'other' })),
  );
  save('license-token.proof', good.licenseToken);
  save('empty.proof', '');

  save('token-as-list.jwt', good.licenseToken);
  ours.setClock(-60 * DAY);
  save('ended-list.jwt', await ours.client.revocations.export());
  ours.setClock(0);
  await ours.client.keys.deactivate({ productId: product, licenseKey, hostId: 'h2' });
  await ours.client.keys.block({ productId: product, licenseKey: blockedKey });
  const list = await ours.client.revocations.export();
  await ours.close();
  save('list.jwt', `${list}\n`);
  save(
    'changed-list.jwt',
    changeClaims(list, (claims) => ({ ...claims, files: [] })),
  );

  const theirs = await openService('theirs.db');
  const { id: productId } = await theirs.client.products.create({ name: 'Other' });
  const { key } = await theirs.client.keys.create({ productId });
  const foreign = JSON.parse((await theirs.client.keys.sign({ productId, licenseKey: key, hostId: 'h1' })).file);
  save('foreign.lic', JSON.stringify(foreign));
  const theirDevice = { productId, licenseKey: key, hostId: 'h1', nonce: NONCE };
  const { proof: theirProof = '' } = await theirs.client.keys.activate(theirDevice);
  save('foreign.proof', theirProof);
  const [proofHead = '', proofBody = ''] = fresh.split('.');
  save('forged.proof', `${proofHead}.${proofBody}.${theirProof.split('.')[2]}`);
  const unsigned = encode({ ...JSON.parse(Buffer.from(proofHead, 'base64url').toString()), alg: 'none' });
  save('none.proof', `${unsigned}.${proofBody}.`);
  save('foreign-list.jwt', await theirs.client.revocations.export());
  await theirs.close();

  const forge = (name: string, changes: object) => save(`${name}.lic`, JSON.stringify({ ...good, ...changes }));
  const [head = '', body = '', tail = ''] = good.licenseToken.split('.');
  const [, , otherTail = ''] = foreign.licenseToken.split('.');
  const header = JSON.parse(Buffer.from(head, 'base64url').toString());
  const withAlg = (alg: string) => `${encode({ ...header, alg })}.${body}`;
  const secret = jwks.keys[0]?.x ?? '';
  forge('changed', { licenseToken: changeClaims(good.licenseToken, (claims) => ({ ...claims, machine: 'h2' })) });
  forge('other-key', { signedKey: '00000-00000-00000-00000-00000' });
  forge('forged', { licenseToken: `${head}.${body}.${otherTail}` });
  forge('none', { licenseToken: `${withAlg('none')}.` });
  forge('hs256', {
    licenseToken: `${withAlg('HS256')}.${createHmac('sha256', secret).update(withAlg('HS256')).digest('base64url')}`,
  });
  forge('list-as-token', { licenseToken: list });
  forge('half', { licenseToken: `${head}.${body.slice(0, body.length / 2)}.${tail}` });
}

async function openService(name: string) {
  let offset = 0;
  const clock = () => Date.now() + offset * 1_000;
  const { fetch, ownerToken: token, close } = await openInstance({ db: join(folder, name), clock });
  return {
    client: createClient({ baseUrl: 'http://127.0.0.1', fetch, token }),
    close,
    /** Sets the clock of the service so many seconds from now. */
    setClock: (seconds: number) => {
      offset = seconds;
    },
  };
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function changeClaims(token: string, change: (claims: Record<string, unknown>) => object): string {
  const [head = '', body = '', tail = ''] = token.split('.');
  return `${head}.${encode(change(JSON.parse(Buffer.from(body, 'base64url').toString())))}.${tail}`;
}
