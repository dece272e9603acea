import type { InputOf } from '../../contract/endpoint.ts';
import { apiError } from '../../contract/errors.ts';
import { moveTestClock } from '../../contract/test-clock.ts';
import { addDuration, toInstant } from '../../domain/time.ts';
import type { AppParts } from '../app-parts.ts';
import type { TestClock } from '../test-clock.ts';
import { readInput } from './input.ts';
import type { HttpRequest, HttpResponse } from './messages.ts';
import { handleRequest } from './pipeline.ts';

const route = { name: 'testClock.move', endpoint: moveTestClock, looksUpKey: false, maxAgeSeconds: 0 } as const;

/** Answers `POST /_test/clock`: an admin moves the clock forward, and the jobs that are due then run. */
export const handleMove = (parts: AppParts, clock: TestClock, request: HttpRequest): Promise<HttpResponse> =>
  handleRequest(parts, route, request, async (_, { caller, httpRequest }) => {
    if (caller.kind !== 'admin') throw apiError('scopeMissing');
    const move: InputOf<typeof moveTestClock> = readInput(moveTestClock, httpRequest, await httpRequest.readBody());
    const present = toInstant(clock.now());
    const target = move.advance === undefined ? (move.now ?? present) : addDuration(present, move.advance);
    if (target < present) throw apiError('invalidParams');
    await clock.moveTo(Date.parse(target));
    return { status: 200, body: JSON.stringify(moveTestClock.reply.wrap({ now: target })), replayed: false };
  });
