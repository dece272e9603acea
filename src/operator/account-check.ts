import type { AccountId, Instant } from '../contract/scalars.ts';
import type { Jwk } from '../contract/signing-keys.ts';
import { FIRST_HASH } from '../domain/audit-chain.ts';
import { checkAudit } from '../domain/audit-check.ts';
import { signLicenseFile, toJwk } from '../domain/license-file/sign.ts';
import { type Verdict, verifyLicenseFile } from '../domain/license-file/verify.ts';
import { createSigners } from '../service/context.ts';
import { readAuditRow } from '../service/numbering.ts';
import type { Repositories } from '../store/store.ts';
import type { AuditRecord } from '../store/tables/record/audit.ts';

/** Rows that are read at a time. */
const BATCH = 1_000;

/** Licence files of an account that a drill tries. */
const SAMPLE = 100;

/** What a drill has found in one account. */
export interface AccountReport {
  readonly id: AccountId;
  /** Audit rows whose links were followed, and the checkpoints among them. */
  readonly auditRows: number;
  readonly checkpoints: number;
  /** Remembered licence files that were signed with its present key and verified. */
  readonly licenseFiles: number;
  /** The public keys of the account. */
  readonly keys: readonly Jwk[];
  readonly problems: readonly string[];
}

/** Follows the audit chain of each account, and signs a sample of its licence files. */
export async function checkAccounts(repositories: Repositories): Promise<AccountReport[]> {
  const reports: AccountReport[] = [];
  const { accounts } = repositories;
  for (let id = await accounts.next(''); id !== null; id = await accounts.next(id)) {
    reports.push(await checkAccount(repositories, id));
  }
  return reports;
}

async function checkAccount(repositories: Repositories, id: AccountId): Promise<AccountReport> {
  const keys = (await repositories.signingKeys.list(id)).map(({ publicPem }) => toJwk(publicPem));
  const audit = await followAudit(repositories, id, keys);
  const files = await checkSigning(repositories, id, keys);
  return {
    id,
    auditRows: audit.rows,
    checkpoints: audit.checkpoints,
    licenseFiles: files.tried,
    keys,
    problems: [...audit.problems, ...files.problems].map((problem) => `${id}: ${problem}`),
  };
}

async function followAudit({ audit, checkpoints, recordHeads }: Repositories, id: AccountId, keys: readonly Jwk[]) {
  const stored = await Array.fromAsync(inOrder((after) => checkpoints.list(id, { after, limit: BATCH })));
  const head = (await recordHeads.find(id)) ?? { auditSeq: 0, auditHash: FIRST_HASH };
  const check = checkAudit({ stored, kept: null, keys });
  let rows = 0;
  const all = inOrder((after) => audit.list(id, { after, until: Number.MAX_SAFE_INTEGER, limit: BATCH }));
  for await (const { seq, hash, ...row } of all) {
    check.add({ ...contentOf(row), seq, hash });
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

/** What cannot be read is not what was hashed: the check says so of the row. */
function contentOf(row: Pick<AuditRecord, 'content' | 'operation'>): object {
  try {
    return readAuditRow(row);
  } catch {
    return {};
  }
}

/** Signs the newest remembered files of an account with its present key, to see that it works, and verifies them. */
async function checkSigning(repositories: Repositories, accountId: AccountId, keys: readonly Jwk[]) {
  const signerOf = createSigners();
  const problems: string[] = [];
  const signer = await signerOf(repositories, accountId).catch((error: unknown) => {
    problems.push(`its signing key cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  });
  const sample = await repositories.files.listNewest(accountId, SAMPLE);
  let tried = 0;
  for (const { id, licenseId, hostId, kid, signedAt, endsAt } of sample) {
    if (!keys.some((key) => key.kid === kid)) problems.push(`the key that signed the licence file ${id} is not there`);
    const license = await repositories.keys.findById(accountId, licenseId);
    // The files of a deleted licence are remembered until they would have ended.
    if (license === null || !signer) continue;
    const facts = { id, issuer: accountId, license, customer: null, hostId, now: signedAt, expiresAt: endsAt };
    const verdict = verifyWith(keys, signLicenseFile(signer, facts), signedAt);
    if (isUnverifiable(verdict)) problems.push(`the licence file ${id}, signed again, does not verify: ${verdict}`);
    tried += 1;
  }
  return { tried, problems };
}

/** Checks a licence file with public keys, and returns the verdict. */
export const verifyWith = (keys: readonly Jwk[], text: string, now: Instant): Verdict =>
  verifyLicenseFile(text, { keys, now }).verdict;

/** Whether a file is none, or is signed by none of the keys. One that has ended, or is for another time, is signed. */
export const isUnverifiable = (verdict: Verdict): boolean =>
  verdict === 'token_malformed' || verdict === 'unknown_kid' || verdict === 'signature_invalid';
