import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../../contract/events.ts';
import type { AccountId, Instant } from '../../contract/scalars.ts';
import type { License } from '../../domain/license.ts';
import { addSeconds } from '../../domain/time.ts';
import { licenseEvent, type Recorder, sessionEvent, type UseCaseEvent, withoutRequest } from '../../service/record.ts';
import type { Repositories } from '../../store/store.ts';
import type { Job, JobContext } from './job.ts';

/** How long before its end a licence is announced. */
const SOON_SECONDS = 7 * 24 * 60 * 60;

const MAX_SESSIONS = 50;

/** How long requests have between two batches. */
const PAUSE_MS = 25;

interface ExpiryParts {
  readonly record: Recorder;
  /** Called after each commit with recorded events. */
  onRecorded(): void;
  now(): Instant;
}

interface Batch {
  readonly isLast: boolean;
  readonly happened: readonly (readonly [AccountId, UseCaseEvent])[];
}

type Expiries = Repositories['licenseExpiries'];

/** The job that records events of time alone: licences that have expired or will soon, and sessions whose lease is over. */
export const expiryJob = (parts: ExpiryParts): Job => ({
  name: 'expiry',
  everyMs: 1_000,
  run: (context) => recordExpiries(context, parts),
});

/** Records all expiries that are due, each once, in batches. */
export async function recordExpiries(
  { transaction, signal }: Pick<JobContext, 'transaction' | 'signal'>,
  { record, onRecorded, now }: ExpiryParts,
): Promise<void> {
  const at = now();

  /** Records batches with pauses for requests: very many licences may expire at the same instant. */
  async function repeat(operation: string, step: (repositories: Repositories) => Promise<Batch>): Promise<void> {
    for (let isLast = false; !isLast && !signal.aborted; ) {
      const batch = await transaction(async (repositories) => {
        const found = await step(repositories);
        for (const [accountId, event] of found.happened) {
          await record(repositories, { ...withoutRequest('job', 'expiry'), accountId, operation, at, events: [event] });
        }
        return found;
      });
      if (batch !== null && batch.happened.length > 0) onRecorded();
      isLast = batch === null || batch.isLast;
      if (!isLast) await sleep(PAUSE_MS);
    }
  }

  const soon = addSeconds(at, SOON_SECONDS);
  // Null after the last account, and while another replica holds the lease.
  const nextAccount = (after: AccountId | '') => transaction(({ accounts }) => accounts.next(after));
  for (let next = await nextAccount(''); next !== null && !signal.aborted; next = await nextAccount(next)) {
    const id: AccountId = next;
    const announce = (operation: string, type: EventType, mark: (expiries: Expiries) => Promise<License[]>) =>
      repeat(operation, async ({ licenseExpiries }) => {
        const licenses = await mark(licenseExpiries);
        // A licence that expired while no server ran is not announced as expiring soon.
        const told = licenses.filter(({ expirationDate: end }) => type === 'license.expired' || (end ?? '') > at);
        const happened = told.map((license) => {
          return [id, licenseEvent(type, license, { expirationDate: license.expirationDate })] as const;
        });
        return { isLast: !licenseExpiries.isFullBatch(licenses.length), happened };
      });
    await announce('keys.expireSoon', 'license.expiring_soon', (expiries) => expiries.markSoon(id, soon));
    await announce('keys.expire', 'license.expired', (expiries) => expiries.markExpired(id, at));
  }

  await repeat('sessions.expire', async ({ sessions, keys }) => {
    const lapsed = await sessions.removeLapsed(at, { most: MAX_SESSIONS });
    const happened: Batch['happened'][number][] = [];
    for (const session of lapsed) {
      const license = await keys.findById(session.accountId, session.licenseId);
      // A session without its licence has no event.
      if (license !== null) happened.push([session.accountId, sessionEvent('session.expired', license, session)]);
    }
    return { isLast: lapsed.length < MAX_SESSIONS, happened };
  });
}
