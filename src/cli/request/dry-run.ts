import { writeHeaders } from '../../client/request.ts';
import type { CommandResult } from '../output/result.ts';
import type { ChangeRequest } from './changes.ts';
import { withoutSecretFields, withoutSecrets } from './without-secrets.ts';

/** Thrown instead of sending; `outcome` shows the requests. */
export class DryRun extends Error {
  override readonly name = 'DryRun';
  readonly outcome: CommandResult;

  constructor(captured: readonly { readonly request: ChangeRequest; readonly idempotencyKey: string }[]) {
    super('dry run');
    const requests = captured.map(({ request, idempotencyKey }) => describe(request, idempotencyKey));
    this.outcome = {
      kind: 'text',
      draw: () => requests.map(draw).join('\n'),
      data: { dryRun: true, ...(requests.length === 1 ? { request: requests[0] } : { requests }) },
      quiet: [],
      notes: [{ tone: 'hint', text: 'nothing was sent' }],
    };
  }
}

const shownHeaders = ['authorization', 'content-type', 'idempotency-key'];

function describe({ endpoint, url, body }: ChangeRequest, idempotencyKey: string) {
  const headers = Object.entries(writeHeaders(endpoint, { userAgent: '', token: '[redacted]' }, idempotencyKey));
  return {
    method: endpoint.method,
    url: withoutSecretFields(url),
    headers: Object.fromEntries(headers.filter(([name]) => shownHeaders.includes(name))),
    body: body === null ? null : withoutSecrets(JSON.parse(body)),
  };
}

function draw({ method, url, headers, body }: ReturnType<typeof describe>): string {
  const head = [`${method} ${url}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\n');
  return body === null ? `${head}\n` : `${head}\n\n${JSON.stringify(body, null, 2)}\n`;
}
