import { writeHeaders } from '../../client/request.ts';
import type { CommandResult } from '../output/result.ts';
import type { CapturedRequest } from './capture-request.ts';

/** Thrown in place of a request: what would have been sent, as the outcome of the command. */
export class DryRun extends Error {
  override readonly name = 'DryRun';
  readonly outcome: CommandResult;

  constructor(request: CapturedRequest, idempotencyKey: string) {
    super('dry run');
    this.outcome = describe(request, idempotencyKey);
  }
}

const shownHeaders = ['authorization', 'content-type', 'idempotency-key'];

function describe({ endpoint, url, body }: CapturedRequest, idempotencyKey: string): CommandResult {
  const { method } = endpoint;
  const all = writeHeaders(endpoint, { userAgent: '', token: '[redacted]' }, idempotencyKey);
  const headers = Object.fromEntries(Object.entries(all).filter(([name]) => shownHeaders.includes(name)));
  const redacted = body === null ? null : redact(JSON.parse(body));
  const lines = [
    `${method} ${url}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(redacted === null ? [] : ['', JSON.stringify(redacted, null, 2)]),
  ];
  return {
    kind: 'page',
    page: () => `${lines.join('\n')}\n`,
    data: { dryRun: true, request: { method, url, headers, body: redacted } },
    quiet: [],
    notes: [{ tone: 'hint', text: 'nothing was sent' }],
  };
}

const redact = (body: Record<string, unknown>): Record<string, unknown> =>
  'licenseKey' in body ? { ...body, licenseKey: '[redacted]' } : body;
