import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { moveTestClock } from '../../contract/test-clock.ts';
import { addDuration, toInstant } from '../../domain/time.ts';
import type { AppParts } from '../app-parts.ts';
import type { TestClock } from '../test-clock.ts';
import { readInput } from './input.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';
import { authenticateWithinLimits, receive } from './pipeline.ts';
import { json, refusal, toApiError } from './respond.ts';

type Move = InputOf<typeof moveTestClock>;

/** Answers `POST /_test/clock`: an admin moves the clock forward, and the jobs that are due then run. */
export async function handleMove(parts: AppParts, clock: TestClock, request: HttpRequest): Promise<HttpResponse> {
  const incoming = receive(parts, request);
  const { headers } = incoming;
  try {
    const caller = await authenticateWithinLimits(parts, incoming);
    if (caller.kind !== 'admin') throw apiError('scopeMissing');
    const move: Move = readInput(moveTestClock, request, await request.readBody());
    const target = targetOf(move, clock);
    if (target < clock.now()) throw apiError('invalidParams');
    await clock.moveTo(target);
    return json(200, moveTestClock.reply.wrap({ now: toInstant(clock.now()) }), headers);
  } catch (thrown) {
    const error = toApiError(moveTestClock, thrown);
    if (error.status >= 500) parts.log.error({ err: error.cause }, 'request failed');
    return refusal(error, headers);
  }
}

function targetOf({ advance, now }: Move, clock: TestClock): number {
  if (now !== undefined) return Date.parse(now);
  return advance === undefined ? clock.now() : Date.parse(addDuration(toInstant(clock.now()), advance));
}
