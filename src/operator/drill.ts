import type { AccountId, Instant } from '../contract/scalars.ts';
import { FIRST_HASH } from '../domain/audit-chain.ts';
import { checkAudit } from '../domain/audit-check.ts';
import { signLicenseFile, toJwk } from '../domain/license-file/sign.ts';
import { verifyLicenseFile } from '../domain/license-file/verify.ts';
import { createRandom, createSigners } from '../service/context.ts';
import { readAuditRow } from '../service/numbering.ts';
import { withCopy } from '../store/backup/restore.ts';
import type { MasterKey } from '../store/secret-box.ts';
import { openStore, type Repositories } from '../store/store.ts';
import { migrateDatabase } from './databases.ts';

/** Rows that are read at a time. */
const BATCH = 1_000;

/** Licence files of an account that a drill tries. */
const SAMPLE = 100;

/** What a drill works with besides the backup. */
interface DrillOptions {
  /** The copy that is tried is made in a folder beside this path, and removed again. */
  readonly workPath: string;
  readonly now: Instant;
  /** What the secrets of the backup are sealed under; null when they are plain. */
  readonly masterKey: MasterKey | null;
  /** Licence files as customers have them, by name. */
  readonly licenseFiles: readonly { readonly name: string; readonly text: string }[];
}

/**
 * Restores a backup on trial: every page is read, the schema brought up to date, the audit chain of each account
 * followed from its first row, and licence files are signed with its keys and verified. Changes nothing but a copy.
 * Returns what it brought up to date, what it looked at, and what is wrong, one sentence each.
 *
 * @throws StartupError when it cannot be opened as a database of lkm at all
 */
export function drill(file: string, { workPath, now, masterKey, licenseFiles }: DrillOptions) {
  return withCopy(file, workPath, async (copy) => {
    const migrations = await migrateDatabase(copy);
    const store = await openStore(copy, { sealing: { masterKey, random: createRandom() } });
    try {
      const { repositories } = store;
      const checked = [];
      for (let id = await repositories.accounts.next(''); id !== null; id = await repositories.accounts.next(id)) {
        checked.push(await checkAccount(repositories, id));
      }
      const problems = checked.flatMap((account) =>
        account.problems.map((problem) => `${account.counts.id}: ${problem}`),
      );
      if (checked.length === 0) problems.push('there is no account in it');
      const keys = checked.flatMap((account) => account.keys);
      const verified = licenseFiles.map(({ name, text }) => ({ name, verdict: verify(keys, text, now) }));
      for (const { name, verdict } of verified) {
        if (unsigned.includes(verdict)) problems.push(`${name} does not verify: ${verdict}`);
      }
      return { migrations, accounts: checked.map(({ counts }) => counts), licenseFiles: verified, problems };
    } finally {
      await store.close();
    }
  });
}

/** Follows the audit chain of an account, and signs a sample of its licence files. */
async function checkAccount(repositories: Repositories, id: AccountId) {
  const keys = (await repositories.signingKeys.list(id)).map(({ publicPem }) => toJwk(publicPem));
  const audit = await followAudit(repositories, id, keys);
  const files = await checkSigning(repositories, id, keys);
  const counts = { id, auditRows: audit.rows, checkpoints: audit.checkpoints, licenseFiles: files.tried };
  return { counts, keys, problems: [...audit.problems, ...files.problems] };
}

type Keys = readonly ReturnType<typeof toJwk>[];

async function followAudit({ audit, checkpoints, recordHeads }: Repositories, id: AccountId, keys: Keys) {
  const stored = await Array.fromAsync(inOrder((after) => checkpoints.list(id, { after, limit: BATCH })));
  const head = (await recordHeads.find(id)) ?? { auditSeq: 0, auditHash: FIRST_HASH };
  const check = checkAudit({ stored, kept: null, keys });
  let rows = 0;
  const all = inOrder((after) => audit.list(id, { after, until: Number.MAX_SAFE_INTEGER, limit: BATCH }));
  for await (const { seq, hash, ...row } of all) {
    let content = {};
    try {
      content = readAuditRow(row);
    } catch {
      // What cannot be read is not what was hashed: the check says so of the row.
    }
    check.add({ ...content, seq, hash });
    rows += 1;
  }
  const problems = check.end({ seq: head.auditSeq, hash: head.auditHash });
  return { rows, checkpoints: stored.length, problems: problems.map(({ text }) => text) };
}

/** All rows of a numbered list, a batch at a time. */
async function* inOrder<T extends { readonly seq: number }>(list: (after: number) => Promise<readonly T[]>) {
  for (let after = 0; ; ) {
    const part = await list(after);
    yield* part;
    if (part.length < BATCH) return;
    after = part.at(-1)?.seq ?? after;
  }
}

/** Signs the newest remembered files of an account with its present key, to see that it works, and verifies them. */
async function checkSigning(repositories: Repositories, accountId: AccountId, keys: Keys) {
  const problems: string[] = [];
  const signer = await createSigners()(repositories, accountId).catch((error: unknown) => {
    problems.push(`its signing key cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  });
  let tried = 0;
  const sample = await repositories.files.listNewest(accountId, SAMPLE);
  for (const { id, licenseId, hostId, kid, signedAt, endsAt } of sample) {
    if (!keys.some((key) => key.kid === kid)) problems.push(`the key that signed the licence file ${id} is not there`);
    const license = await repositories.keys.findById(accountId, licenseId);
    // The files of a deleted licence are remembered until they would have ended.
    if (license === null || !signer) continue;
    const facts = { id, issuer: accountId, license, customer: null, hostId, now: signedAt, expiresAt: endsAt };
    const verdict = verify(keys, signLicenseFile(signer, facts), signedAt);
    if (unsigned.includes(verdict)) problems.push(`the licence file ${id}, signed again, does not verify: ${verdict}`);
    tried += 1;
  }
  return { tried, problems };
}

const verify = (keys: Keys, text: string, now: Instant) => verifyLicenseFile(text, { keys, now }).verdict;

/** The verdicts on what is no file, or is signed by none of the keys. One that has ended, or is for later, is signed. */
const unsigned: readonly string[] = ['token_malformed', 'unknown_kid', 'signature_invalid'];
