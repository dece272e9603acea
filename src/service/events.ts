import type { InputOf, PayloadOf } from '../contract/endpoint.ts';
import { apiError } from '../contract/errors.ts';
import type { events } from '../contract/events.ts';
import { DEFAULT_PAGE_SIZE } from '../contract/fields.ts';
import { type Instant, MAX_SEQ } from '../contract/scalars.ts';
import { showAddress, showRecordNames } from './audit.ts';
import type { Context } from './context.ts';
import { readEventContent } from './numbering.ts';
import { type Operations, ofWholeAccount } from './operation.ts';

type Events = typeof events;

/** How many events a request with a filter by type reads at most. */
const MAX_SCANNED = 20_000;

export async function listEvents(
  { repositories, caller }: Pick<Context, 'repositories' | 'caller'>,
  { after = 0, limit = DEFAULT_PAGE_SIZE, type, resourceId }: InputOf<Events['list']>,
): Promise<PayloadOf<Events['list']>> {
  const end = (await repositories.recordHeads.find(caller.accountId))?.eventSeq ?? 0;
  // A follower ahead of the last event has seen events that a restore removed; it would miss their successors.
  if (after > end && after !== MAX_SEQ) throw apiError('aheadOfService', { last: end });
  // An index finds the events of a resource, but no index finds the events of a type.
  const lookedAt =
    type === undefined
      ? end
      : resourceId === undefined
        ? after + MAX_SCANNED
        : await repositories.events.seqOfNth(caller.accountId, resourceId, { after, n: MAX_SCANNED });
  const until = Math.min(end, lookedAt ?? end);
  const filters = { types: type, subjectId: resourceId };
  const found = await repositories.events.listNamed(caller.accountId, { after, until, limit }, filters);
  const items = found.map(({ content, names }) => {
    const event = readEventContent(content);
    return { ...event, address: showAddress(event.address, caller), ...showRecordNames(names, caller) };
  });
  const last = found.length === limit ? found.at(-1)?.seq : until;
  return { items, meta: { last: last ?? 0 } };
}

/** The number of the last event before an instant; 0 without such an event. */
export async function seqBefore({ repositories, caller }: Context, at: Instant): Promise<number> {
  let [low, high] = [0, (await repositories.recordHeads.find(caller.accountId))?.eventSeq ?? 0];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const range = { after: middle - 1, until: middle, limit: 1 };
    const [event] = await repositories.events.list(caller.accountId, range, {});
    if (event !== undefined && readEventContent(event.content).created_at >= at) high = middle - 1;
    else low = middle;
  }
  return low;
}

export const eventOperations: Operations<typeof events> = {
  list: { perform: listEvents, authorize: ofWholeAccount },
};
