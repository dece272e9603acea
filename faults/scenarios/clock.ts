import { randomBytes, randomUUID } from 'node:crypto';
import type { AccountId } from '../../src/contract/scalars.ts';
import { toInstant } from '../../src/domain/time.ts';
import { FINGERPRINT_VERSION } from '../../src/server/idempotency/fingerprint.ts';
import { type Clocks, cleanUp, createCleanupSchedule, type DueRun } from '../../src/server/jobs/cleanup.ts';
import { createRecorder } from '../../src/service/record.ts';
import { deriveKey, type IdempotencyKeyHash, sealResponse } from '../../src/store/response-sealing.ts';
import { NONCE_BYTES } from '../../src/store/secret-box.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { Random } from '../random.ts';
import { fail } from '../report.ts';
import type { Scenario } from '../scenario.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Longer than any jump keeps the cleanup away. */
const ROUND_MS = 6 * DAY;

/**
 * The clock is set forward and back, by hours and by years, or by hours while servers are restarted: no answer is removed
 * before it is 24 hours old.
 */
export const clock: Scenario = {
  name: 'clock',
  about: 'six days in which the clock is set, by two hours to ten years, up to four times',
  engines: ['sqlite', 'postgres'],
  controls: [['clock-believed', 'sqlite']],
  share: 1,
  shortRounds: 3,
  begin:
    () =>
    async ({ run, stage, report, random }) => {
      const store = await openStore(stage.world.db);
      const record = createRecorder(randomBytes);
      const account = (await store.repositories.accounts.oldest())?.id;
      if (account === undefined) throw new Error('the world has no account');
      try {
        let time = 0;
        let set = Date.UTC(2026, 0, 1);
        const clocks: Clocks = { wall: () => set + time, steady: () => time };
        const start = run.sabotage === 'clock-believed' ? daily : createCleanupSchedule;
        let claimRun = start(clocks);
        const isRestarted = random.below(2) === 0;
        const jumps = new Set(Array.from({ length: random.below(5) }, () => random.below((4 * DAY) / MINUTE)));
        const born = new Map<IdempotencyKeyHash, number>();

        for (; time < ROUND_MS; time += MINUTE) {
          if (jumps.has(time / MINUTE)) set += jump(random, isRestarted ? HOURS : HOURS_AND_YEARS);
          if (isRestarted && random.below(600) === 0) claimRun = start(clocks);
          if (random.below(120) === 0) born.set(await storeResponse(store, account, clocks.wall()), time);
          const due = claimRun();
          if (due === null) continue;
          await cleanUp(store, clocks.wall(), { record, due });
          for (const [hash, since] of born) {
            if ((await store.repositories.idempotency.find(account, hash)) !== null) continue;
            born.delete(hash);
            const age = time - since;
            if (age < DAY) fail(report, 'lost', `an answer was removed after ${Math.floor(age / MINUTE)} minutes`);
          }
        }
        report.acknowledged += born.size;
      } finally {
        await store.close();
      }
    },
};

/** What the cleanup would be without a second clock. */
function daily({ steady }: Clocks): () => DueRun | null {
  let last = -DAY;
  return () => {
    if (steady() - last < DAY) return null;
    last = steady();
    return 'daily';
  };
}

const HOURS = [2 * HOUR, 25 * HOUR];
const HOURS_AND_YEARS = [...HOURS, 30 * DAY, 3_650 * DAY];

function jump(random: Random, sizes: readonly number[]): number {
  const size = random.pick(sizes);
  return random.below(2) === 0 ? size : -size;
}

/** Stores a response under a new key, and returns the hash of the key. */
async function storeResponse(store: Store, accountId: AccountId, wall: number): Promise<IdempotencyKeyHash> {
  const { hash, sealingKey } = deriveKey(accountId, randomUUID());
  const record = { accountId, fingerprint: hash, tokenId: null };
  const response = { status: 200, contentType: 'application/json', body: '{}' };
  await store.transaction((repositories) =>
    repositories.idempotency.insert({
      ...record,
      keyHash: hash,
      fingerprintVersion: FINGERPRINT_VERSION,
      state: 'completed',
      method: 'POST',
      path: '/product',
      response: sealResponse(response, sealingKey, record, randomBytes(NONCE_BYTES)),
      createdAt: toInstant(wall),
    }),
  );
  return hash;
}
