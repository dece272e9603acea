import type { Fetch } from '../../src/contract/endpoint.ts';
import { lkm, type Surroundings } from './fake-io.ts';

/** A request as a test looks at it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly idempotencyKey: string | null;
  readonly authorization: string | null;
}

/** An answer: status and JSON body, or an error of the network. */
export type Scripted = readonly [status: number, body: unknown] | Error;

/** A service that gives the scripted answers in order, the last one for ever, and remembers what it was asked. */
export function scriptedService(...answers: Scripted[]): { fetch: Fetch; seen: Seen[] } {
  const seen: Seen[] = [];
  const fetch: Fetch = async (request) => {
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    seen.push({
      method: request.method,
      path: pathname + search,
      body: text === '' ? null : JSON.parse(text),
      idempotencyKey: request.headers.get('idempotency-key'),
      authorization: request.headers.get('authorization'),
    });
    const answer = answers[Math.min(seen.length, answers.length) - 1];
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('no answer was scripted');
    return Response.json(answer[1], { status: answer[0] });
  };
  return { fetch, seen };
}

/** The environment of a command that talks to a scripted service. */
export const remote = { LKM_BASE_URL: 'https://licensing.example.com', LKM_TOKEN: 'lkm_admin_secret' };

/** What a command does where the service gives these answers, and what it sent. */
export async function against(line: string | readonly string[], answers: Scripted[], more: Surroundings = {}) {
  const { fetch, seen } = scriptedService(...answers);
  const argv = typeof line === 'string' ? line.split(' ') : line;
  const ran = await lkm(argv, { fetch, ...more, env: { ...remote, ...more.env } });
  return { ...ran, seen };
}

export const PRODUCT = 'prod_01jx0000000000000000000000';
export const KEY = 'ABCD-EFGH-IJKL-MNOP-QRST-UVWX';

export const refusal = (status: number, code: number, message: string): Scripted => [status, { message, code }];

/** A connection that fails with a code, in a call of the system if that is named. */
export const brokenBy = (code: string, syscall?: string): TypeError =>
  new TypeError('fetch failed', {
    cause: Object.assign(new Error(`write EPROTO ssl3_get_record ${code}`), { code, syscall }),
  });

export const issued: Scripted = [200, { code: 0, key: KEY }];

export const listed = (customers: readonly unknown[]): Scripted => [
  200,
  { action: 'customers.list', status: true, data: customers, code: 0 },
];

/** A customer whose name and address are `name`. */
export const customer = (id: string, name: string, email: string | null = null) => ({
  id,
  name,
  email,
  active: true,
  createdAt: '2026-08-14T09:12:44.031Z',
  updatedAt: '2026-08-14T09:12:44.031Z',
  createdBy: 'acc_1',
});

/** The answer of a service that knows the token. */
export const self: Scripted = [
  200,
  {
    action: 'tokens.self',
    status: true,
    data: {
      ...{ id: 'tok_1', name: 'shop', kind: 'scoped', scopes: ['license:write'], productIds: null, maxIssues: null },
      ...{
        issued: null,
        expiresAt: '2027-01-01T00:00:00.000Z',
        revokedAt: null,
        createdAt: '2026-11-21T10:00:00.000Z',
      },
    },
    code: 0,
  },
];
