import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../../src/index.ts';
import { fakeTiming } from './fake-timing.ts';

/** One answer; made anew for each request, since a body is read once. */
export type Answer = () => Response | Promise<Response>;

/** A request as the service saw it. */
export interface Seen {
  readonly line: string;
  readonly headers: Headers;
  readonly body: string;
}

export const baseUrl = 'https://service.example/api';

/** A service behind msw, for the tests of one file. */
export function scriptedService() {
  const server = setupServer();
  beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
  afterEach(() => server.resetHandlers());
  afterAll(() => server.close());

  /** Gives the answers one after another, the last one again and again. */
  function script(...answers: readonly Answer[]): Seen[] {
    const seen: Seen[] = [];
    server.use(
      http.all(`${baseUrl}/*`, async ({ request }) => {
        const answer = answers[Math.min(seen.length, answers.length - 1)];
        seen.push({
          line: `${request.method} ${request.url.slice(baseUrl.length)}`,
          headers: request.headers,
          body: await request.text(),
        });
        return answer ? answer() : HttpResponse.error();
      }),
    );
    return seen;
  }
  return { script };
}

/** A client of that service whose time is set. */
export function scriptedClient(options: Partial<ClientOptions> = {}) {
  const timing = fakeTiming();
  const client: Client = createClient({
    baseUrl,
    token: 'lkm_admin_secret',
    fetch: (request) => globalThis.fetch(request),
    timing,
    ...options,
  });
  return { client, waits: timing.waits };
}

export const json = (body: object, status = 200, headers: Record<string, string> = {}): Answer => {
  return () => HttpResponse.json(body, { status, headers });
};

export const text = (body: string, status = 200, headers: Record<string, string> = {}): Answer => {
  return () => new HttpResponse(body, { status, headers });
};

export const refusal = (status: number, code: number, headers: Record<string, string> = {}): Answer =>
  json({ message: 'no', code }, status, headers);

/** The connection ends without an answer. */
export const reset: Answer = () => HttpResponse.error();

/** A body that ends with an error half-way. */
export const cutOff: Answer = () => {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"code":0,"key":"AAAAA'));
      controller.error(new Error('socket hang up'));
    },
  });
  return new HttpResponse(body, { status: 200, headers: { 'content-type': 'application/json' } });
};
