import { mutates } from '../../contract/endpoint.ts';
import { apiError, type Reason } from '../../contract/errors.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { Caller } from '../../domain/access.ts';
import type { IpAddress } from '../../domain/ip-address.ts';
import { actorOf, type Door, RecordedRefusal, type Recorder, type UseCaseEvent } from '../../service/record.ts';
import type { Repositories, Store } from '../../store/store.ts';
import type { Route } from './routes.ts';

/** What recording needs of the service. */
interface RecordingParts {
  readonly store: Store;
  /** How requests come in. */
  readonly door: Door;
  readonly record: Recorder;
  /** Called after each commit of what was recorded: it waits for its numbers. */
  onRecorded?(): void;
}

/** What is recorded of a request. */
interface RecordedRequest {
  readonly route: Pick<Route, 'name' | 'endpoint'>;
  readonly requestId: string;
  readonly caller: Caller;
  readonly now: Instant;
  readonly ipAddress: IpAddress;
}

/** Records a mutation that is done, in its transaction. */
export function recordDone(
  parts: RecordingParts,
  request: RecordedRequest,
  repositories: Repositories,
  events: readonly UseCaseEvent[],
): Promise<void> {
  return parts.record(repositories, { ...mutationOf(parts, request), events });
}

/** Records a refused mutation, if its refusal is one that is recorded, where everything else that it did is undone. */
export async function recordRefused(
  parts: RecordingParts,
  request: RecordedRequest,
  repositories: Repositories,
  error: unknown,
): Promise<void> {
  if (!(error instanceof RecordedRefusal)) return;
  const mutation = { ...mutationOf(parts, request), events: [error.event] };
  await parts.record(repositories, error.reason === null ? mutation : { ...mutation, refusal: error.reason });
}

/** Refuses a request before it runs. A mutation that the caller lacks the rights for is recorded. */
export async function refuse(parts: RecordingParts, request: RecordedRequest, refusal: Reason): Promise<never> {
  if (refusal === 'scopeMissing' && mutates(request.route.endpoint)) {
    const mutation = { ...mutationOf(parts, request), refusal, events: [] };
    await parts.store.transaction((repositories) => parts.record(repositories, mutation));
    parts.onRecorded?.();
  }
  throw apiError(refusal);
}

const mutationOf = ({ door }: RecordingParts, { route, caller, now, ipAddress, requestId }: RecordedRequest) => ({
  accountId: caller.accountId,
  at: now,
  actor: actorOf(caller),
  address: ipAddress,
  door,
  requestId,
  operation: route.name,
});
