import { mutates } from '../../contract/endpoint.ts';
import { apiError, type Reason } from '../../contract/errors.ts';
import { actorOf, RecordedRefusal, type UseCaseEvent } from '../../service/record.ts';
import type { Repositories } from '../../store/store.ts';
import type { AppParts } from '../app-parts.ts';
import type { AuthorizedRequest } from './execute.ts';
import type { Route } from './routes.ts';

/** What is recorded of a request. */
type RecordedRequest = AuthorizedRequest<Pick<Route, 'name' | 'endpoint'>>;

/** Records a mutation that is done or refused, in the transaction of what it did. */
export function recordMutation(
  { record, door }: AppParts,
  { route, caller, now, ipAddress, requestId }: RecordedRequest,
  repositories: Repositories,
  outcome: { readonly events: readonly UseCaseEvent[]; readonly refusal?: Reason },
): Promise<void> {
  return record(repositories, {
    accountId: caller.accountId,
    at: now,
    actor: actorOf(caller),
    address: ipAddress,
    door,
    requestId,
    operation: route.name,
    ...outcome,
  });
}

/** Records a refused mutation, if its refusal is one that is recorded, where everything else that it did is undone. */
export async function recordRefused(
  parts: AppParts,
  request: RecordedRequest,
  repositories: Repositories,
  error: unknown,
): Promise<void> {
  if (!(error instanceof RecordedRefusal)) return;
  const refusal = error.reason === null ? {} : { refusal: error.reason };
  await recordMutation(parts, request, repositories, { events: [error.event], ...refusal });
}

/** Refuses a request before it runs. A mutation that the caller lacks the rights for is recorded. */
export async function refuse(parts: AppParts, request: RecordedRequest, refusal: Reason): Promise<never> {
  if (refusal === 'scopeMissing' && mutates(request.route.endpoint)) {
    await parts.store.transaction((repositories) =>
      recordMutation(parts, request, repositories, { events: [], refusal }),
    );
    parts.onRecorded?.();
  }
  throw apiError(refusal);
}
