import { ApiError, apiError, type Reason } from '../contract/errors.ts';
import type { EventType, JsonObject, ResourceType } from '../contract/events.ts';
import type { AccountId, Instant } from '../contract/scalars.ts';
import type { Caller } from '../domain/access.ts';
import { createIdSequence } from '../domain/ids.ts';
import type { IpAddress } from '../domain/ip-address.ts';
import type { Device, License } from '../domain/license.ts';
import { showKey } from '../domain/license-key.ts';
import type { Repositories } from '../store/store.ts';
import type { Session } from '../store/tables/sessions.ts';

export interface UseCaseEvent {
  /** What subscribers are told; absent when the audit row alone says it. */
  readonly type?: EventType;
  readonly resource: { readonly type: ResourceType; readonly id: string };
  /** Ids, numbers, instants and masked keys: no secret, no whole key, no e-mail address. `licenseId`: of this licence. */
  readonly data?: JsonObject;
  /** What the audit row says besides; subscribers are not told. */
  readonly details?: JsonObject;
}

export interface RecordedMutation {
  readonly accountId: AccountId;
  readonly at: Instant;
  readonly actor: Actor;
  /** The address of the caller; null for what no request caused. */
  readonly address: IpAddress | null;
  /** How it came in: over HTTP, from the owner of the database in process or in a command, or from a job. */
  readonly door: Door;
  readonly requestId: string | null;
  /** The operation, as it is called everywhere: `keys.create`. */
  readonly operation: string;
  readonly refusal?: Reason;
  /** The first one that is of a licence, or else the first, names what the audit row is about. */
  readonly events: readonly UseCaseEvent[];
}

export type Door = 'http' | 'db' | 'job';

/** Who did something: a token, the owner of the database, an operator by name, or a job by name. */
export interface Actor {
  readonly type: 'token' | 'owner' | 'operator' | 'job';
  readonly id: string;
}

export const actorOf = ({ accountId, tokenId }: Pick<Caller, 'accountId' | 'tokenId'>): Actor =>
  tokenId === null ? { type: 'owner', id: accountId } : { type: 'token', id: tokenId };

/** What is recorded of a job, by its name, beside what it did. */
export const byJob = (id: string) =>
  ({ actor: { type: 'job', id }, address: null, door: 'job', requestId: null }) as const;

/** Records a mutation with its events, in the transaction of what happened; of refusals that repeat, some. */
export type Recorder = (repositories: Pick<Repositories, 'outbox'>, mutation: RecordedMutation) => Promise<void>;

/** As many as cannot be tried: see decision 0039. */
const SALT_BYTES = 16;

/**
 * Makes the recorder of a process. What it records sorts in the order in which it was recorded, also within a millisecond
 * and when the clock is set back.
 *
 * @param random gives unpredictable bytes
 */
export function createRecorder(random: (length: number) => Uint8Array): Recorder {
  const nextId = createIdSequence(random);
  const newSalt = () => Buffer.from(random(SALT_BYTES)).toString('base64url');
  const countRefusal = createRefusalCounts();
  return async ({ outbox }, { accountId, at, events, refusal, ...mutation }) => {
    const subject = events.find(({ resource }) => resource.type === 'license') ?? events[0];
    const { actor, operation } = mutation;
    const words = [accountId, actor.id, operation, refusal ?? '', subject?.resource.id ?? ''];
    const count = refusal === undefined ? 1 : countRefusal(at, words);
    if (count === null) return;
    await outbox.insert({
      accountId,
      id: nextId('aud', at),
      at,
      entry: {
        ...mutation,
        salt: mutation.address === null ? null : newSalt(),
        outcome: refusal === undefined ? 'done' : 'refused',
        resource: subject?.resource ?? null,
        details: {
          ...subject?.data,
          ...subject?.details,
          ...(refusal && { reason: refusal }),
          // Those between this row and the one before it have no row.
          ...(count > 1 && { count }),
        },
        events: events.flatMap(({ type, resource, data = {} }) =>
          type === undefined ? [] : [{ id: nextId('evt', at), type, resource, data }],
        ),
      },
    });
  };
}

/** So many equal refusals of an hour are recorded one by one. */
const RECORDED_SINGLY = 10;

/** More different refusals in an hour than a server keeps apart by their resource. */
const MAX_COUNTED = 10_000;

/**
 * Makes the counts of one process. Counts a refusal, equal ones having the same words, the resource last, and returns how
 * many equal ones there were in this hour when it is to be recorded: the first ten, then the 20th, the 40th and so on. Else
 * null: whoever repeats a refused request must not fill a log from which nothing is ever removed.
 */
function createRefusalCounts(): (at: Instant, words: readonly string[]) => number | null {
  const counts = new Map<string, number>();
  let hour = '';
  return (at, words) => {
    const present = at.slice(0, 13);
    if (present !== hour) counts.clear();
    hour = present;
    const exact = JSON.stringify(words);
    const key = counts.has(exact) || counts.size < MAX_COUNTED ? exact : JSON.stringify(words.slice(0, -1));
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= RECORDED_SINGLY || Number.isInteger(Math.log2(count / RECORDED_SINGLY)) ? count : null;
  };
}

/** A refusal that is recorded, while everything else that its use case did is undone. */
export class RecordedRefusal extends ApiError {
  readonly event: UseCaseEvent;

  constructor(reason: Reason, event: UseCaseEvent) {
    const { status, code, message } = apiError(reason);
    super({ reason, status, code, message });
    this.event = event;
  }
}

/** An event of a licence. Its data name customer, masked key and product, and `more`. */
export const licenseEvent = (type: EventType, license: License, more: JsonObject = {}): UseCaseEvent => ({
  type,
  resource: { type: 'license', id: license.id },
  data: { customerId: license.customerId, key: showKey(license.key, false), productId: license.productId, ...more },
});

export const deviceEvent = (
  type: EventType,
  license: License,
  { id, hostId }: Pick<Device, 'id' | 'hostId'>,
  more: JsonObject = {},
): UseCaseEvent => useEvent(type, license, { type: 'device', id }, { hostId, ...more });

export const sessionEvent = (
  type: EventType,
  license: License,
  { id, hostId, expiresAt }: Pick<Session, 'id' | 'hostId' | 'expiresAt'>,
  more: JsonObject = {},
): UseCaseEvent => useEvent(type, license, { type: 'session', id }, { expiresAt, hostId, ...more });

const useEvent = (type: EventType, license: License, resource: UseCaseEvent['resource'], data: JsonObject) => ({
  type,
  resource,
  data: { licenseId: license.id, productId: license.productId, ...data },
});
