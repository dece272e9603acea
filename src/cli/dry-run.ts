import { type Client, createClient } from '../client/index.ts';
import { inProcessUrl } from './connection.ts';
import type { Outcome } from './output/outcome.ts';
import type { Target } from './target.ts';

/** Thrown in place of a request: what would have been sent, as the outcome of the command. */
export class DryRun extends Error {
  override readonly name = 'DryRun';
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super('dry run');
    this.outcome = outcome;
  }
}

/** Builds the request that `send` would make, sends nothing, opens nothing. */
export async function preview(target: Target, send: (client: Client) => Promise<unknown>): Promise<DryRun> {
  let captured: Request | undefined;
  const capture = async (request: Request): Promise<Response> => {
    captured = request;
    throw new Error('dry run');
  };
  const baseUrl = target.kind === 'database' ? inProcessUrl : target.baseUrl;
  const client = createClient({ baseUrl, token: 'redacted', fetch: capture, maxRetries: 0 });
  await send(client).catch((error: unknown) => {
    if (!captured) throw error;
  });
  if (!captured) throw new Error('the change made no request');
  return new DryRun(await describe(captured));
}

async function describe(request: Request): Promise<Outcome> {
  const body = await request.text();
  const headers = Object.fromEntries(
    [...request.headers]
      .filter(([name]) => ['authorization', 'content-type', 'idempotency-key'].includes(name))
      .map(([name, value]) => [name, name === 'authorization' ? 'Bearer [redacted]' : value]),
  );
  const redacted = body === '' ? null : redact(JSON.parse(body));
  const lines = [
    `${request.method} ${request.url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(redacted === null ? [] : ['', JSON.stringify(redacted, null, 2)]),
  ];
  return {
    kind: 'page',
    page: () => `${lines.join('\n')}\n`,
    data: { dryRun: true, request: { method: request.method, url: request.url, headers, body: redacted } },
    quiet: [],
    notes: [{ tone: 'hint', text: 'nothing was sent' }],
  };
}

const redact = (body: Record<string, unknown>): Record<string, unknown> =>
  'licenseKey' in body ? { ...body, licenseKey: '[redacted]' } : body;
