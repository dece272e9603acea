import { ApiError, type ApiErrorDetail, apiError, type Reason } from '../contract/errors.ts';
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
  /** The type of the event; absent if only an audit row is written. */
  readonly type?: EventType;
  readonly resource: { readonly type: ResourceType; readonly id: string };
  /** Ids, numbers, instants and masked keys: no secret, no whole key, no e-mail address. `licenseId`: of this licence. */
  readonly data?: JsonObject;
  /** Further details, for the audit row only. */
  readonly details?: JsonObject;
}

export interface RecordedMutation {
  readonly accountId: AccountId;
  readonly at: Instant;
  readonly actor: Actor;
  /** The address of the caller; null without a request. */
  readonly address: IpAddress | null;
  /** The origin: HTTP, the owner of the database in process, the page of a customer, or a job. */
  readonly door: Door;
  readonly requestId: string | null;
  /** The operation, as it is called everywhere: `keys.create`. */
  readonly operation: string;
  readonly refusal?: Reason;
  /** The audit row names the resource of the first event of a licence, else of the first event. */
  readonly events: readonly UseCaseEvent[];
}

export type Door = 'http' | 'db' | 'page' | 'job';

/** Who did something: a token, the owner of the database, a customer on its page, an operator by name, or a job by name. */
export interface Actor {
  readonly type: 'token' | 'owner' | 'customer' | 'operator' | 'job';
  readonly id: string;
}

export const actorOf = ({ accountId, tokenId }: Caller): Actor =>
  tokenId === null ? { type: 'owner', id: accountId } : { type: 'token', id: tokenId };

/** The actor and origin of a change without a request. */
export const withoutRequest = (type: 'owner' | 'operator' | 'job', id: string) =>
  ({ actor: { type, id }, address: null, door: type === 'job' ? 'job' : 'db', requestId: null }) as const;

/** Records a mutation with its events, in the transaction of the mutation; of repeated refusals only some are recorded. */
export type Recorder = (repositories: Pick<Repositories, 'outbox'>, mutation: RecordedMutation) => Promise<unknown>;

/** The length of a salt: too many values to try all. Decision 0039. */
const SALT_BYTES = 16;

/**
 * Makes the recorder of a process. Its entries sort in the order in which they were recorded, also within a millisecond and
 * when the clock is set back.
 *
 * @param random gives unpredictable bytes
 */
export function createRecorder(random: (length: number) => Uint8Array): Recorder {
  const nextId = createIdSequence(random);
  const newSalt = () => Buffer.from(random(SALT_BYTES)).toString('base64url');
  const countRefusal = createRefusalCounts();
  return ({ outbox }, { accountId, at, events, refusal, ...mutation }) => {
    const subject = events.find(({ resource }) => resource.type === 'license') ?? events[0];
    const { actor, operation } = mutation;
    const words = [accountId, actor.id, operation, refusal ?? '', subject?.resource.id ?? ''];
    const count = refusal === undefined ? 1 : countRefusal(at, words);
    if (count === null) return Promise.resolve();
    return outbox.insert({
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
          // The difference to the count of the last row is the number of refusals without a row.
          ...(count > 1 && { count }),
        },
        events: events.flatMap(({ type, resource, data = {} }) =>
          type === undefined ? [] : [{ id: nextId('evt', at), type, resource, data }],
        ),
      },
    });
  };
}

/** How many equal refusals of an hour are recorded one by one. */
const RECORDED_SINGLY = 10;

/** The most different refusals in an hour that are counted per resource. */
const MAX_COUNTED = 10_000;

/**
 * Makes a counter of refusals. It returns the count of equal refusals in this hour if the refusal is to be recorded (the first
 * ten, then the 20th, the 40th and so on), else null: repeated refused requests must not fill the audit log. Refusals are equal
 * if their words are; the resource is the last word.
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
  readonly outcome: Pick<RecordedMutation, 'events' | 'refusal'>;

  constructor(reason: Reason, event: UseCaseEvent, detail: ApiErrorDetail = {}) {
    const { status, code, message } = apiError(reason, detail);
    super({ reason, status, code, message });
    this.outcome = { events: [event], refusal: reason };
  }
}

/** A recorded refusal for lack of rights. */
export const rightsRefusal = (
  type: ResourceType,
  id: string,
  reason: RightsReason = 'scopeMissing',
  { expiresAt }: Partial<Caller> = {},
): RecordedRefusal => new RecordedRefusal(reason, { resource: { type, id } }, { latest: expiresAt ?? undefined });

/** The reasons of recorded refusals for lack of rights. */
export const rightsReasons = ['scopeMissing', 'tokenOutlives'] as const satisfies Reason[];
type RightsReason = (typeof rightsReasons)[number];

export const eventOf = (type: EventType, resource: ResourceType, id: string, data: JsonObject = {}): UseCaseEvent => ({
  type,
  resource: { type: resource, id },
  data,
});

/** An event of a licence. Its data name customer, masked key and product, and `more`. */
export function licenseEvent(type: EventType, license: License, more: JsonObject = {}): UseCaseEvent {
  const { id, customerId, productId } = license;
  return eventOf(type, 'license', id, { customerId, key: showKey(license.key, false), productId, ...more });
}

export const deviceEvent = (
  type: EventType,
  license: License,
  { id, hostId }: Pick<Device, 'id' | 'hostId'>,
  more: JsonObject = {},
): UseCaseEvent => eventOf(type, 'device', id, { ...namesOf(license), hostId, ...more });

export const sessionEvent = (
  type: EventType,
  license: License,
  { id, hostId, expiresAt }: Pick<Session, 'id' | 'hostId' | 'expiresAt'>,
  more: JsonObject = {},
): UseCaseEvent => eventOf(type, 'session', id, { ...namesOf(license), expiresAt, hostId, ...more });

const namesOf = ({ id, productId }: License): JsonObject => ({ licenseId: id, productId });
