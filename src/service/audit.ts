import type { audit } from '../contract/audit.ts';
import { DEFAULT_FEED_SIZE } from '../contract/fields.ts';
import type { ShownIp } from '../contract/scalars.ts';
import { seesSecrets } from '../domain/access.ts';
import { FIRST_HASH } from '../domain/audit-chain.ts';
import { type IpAddress, showIp } from '../domain/ip-address.ts';
import type { UseCase } from './context.ts';
import { readAuditRow } from './numbering.ts';
import { type Operations, ofWholeAccount } from './operation.ts';

type Audit = typeof audit;

/** Lists the audit log after a number. */
const listAudit: UseCase<Audit['list']> = async (
  { repositories, caller },
  { after = 0, limit = DEFAULT_FEED_SIZE },
) => {
  const head = await repositories.recordHeads.find(caller.accountId);
  const { auditSeq: seq, auditHash: hash } = head ?? { auditSeq: 0, auditHash: FIRST_HASH };
  const found = await repositories.audit.list(caller.accountId, { after, until: seq, limit });
  const showsSecrets = seesSecrets(caller);
  const items = found.map(({ hash, ...stored }) => {
    const row = readAuditRow(stored);
    // With the salt, the hidden part of an address could be tried until the hash fits.
    return { ...row, address: showAddress(row.address, showsSecrets), ...(!showsSecrets && { salt: null }), hash };
  });
  const last = found.length === limit ? found.at(-1)?.seq : seq;
  return { items, meta: { last: last ?? 0, head: { seq, hash } } };
};

/** Lists the signed checkpoints after a row. */
const listCheckpoints: UseCase<Audit['checkpoints']> = async (
  { repositories, caller },
  { after = 0, limit = DEFAULT_FEED_SIZE },
) => {
  const items = await repositories.checkpoints.list(caller.accountId, { after, limit });
  return { items, meta: { last: items.at(-1)?.seq ?? after } };
};

/** The address that a request came from, as the caller may see it. */
export const showAddress = (address: IpAddress | null, showsSecrets: boolean): ShownIp | null =>
  address === null ? null : showIp(address, showsSecrets);

/** The operations on the audit log. */
export const auditOperations: Operations<typeof audit> = {
  list: { perform: listAudit, authorize: ofWholeAccount },
  checkpoints: { perform: listCheckpoints, authorize: ofWholeAccount },
};
