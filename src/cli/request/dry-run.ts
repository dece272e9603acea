import { writeHeaders } from '../../client/request.ts';
import type { CommandResult } from '../output/result.ts';
import type { CapturedRequest } from './changes.ts';
import { redacted, withoutSecretFields } from './redact.ts';

/** Thrown in place of requests: what would have been sent, as the outcome of the command. */
export class DryRun extends Error {
  override readonly name = 'DryRun';
  readonly outcome: CommandResult;

  constructor(requests: readonly { readonly request: CapturedRequest; readonly idempotencyKey: string }[]) {
    super('dry run');
    this.outcome = outcomeOf(requests.map(({ request, idempotencyKey }) => describe(request, idempotencyKey)));
  }
}

interface Described {
  readonly request: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

function outcomeOf(described: readonly Described[]): CommandResult {
  const requests = described.map(({ request }) => request);
  const texts = described.map(({ lines }) => `${lines.join('\n')}\n`);
  return {
    kind: 'text',
    draw: () => texts.join('\n'),
    data: { dryRun: true, ...(requests.length === 1 ? { request: requests[0] } : { requests }) },
    quiet: [],
    notes: [{ tone: 'hint', text: 'nothing was sent' }],
  };
}

const shownHeaders = ['authorization', 'content-type', 'idempotency-key'];

function describe({ endpoint, url, body }: CapturedRequest, idempotencyKey: string): Described {
  const { method } = endpoint;
  const all = writeHeaders(endpoint, { userAgent: '', token: '[redacted]' }, idempotencyKey);
  const headers = Object.fromEntries(Object.entries(all).filter(([name]) => shownHeaders.includes(name)));
  const shownUrl = withoutSecretFields(url);
  const shownBody = body === null ? null : redacted(JSON.parse(body));
  const lines = [
    `${method} ${shownUrl}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(shownBody === null ? [] : ['', JSON.stringify(shownBody, null, 2)]),
  ];
  return { request: { method, url: shownUrl, headers, body: shownBody }, lines };
}
