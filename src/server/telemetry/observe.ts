import type { HttpRequest, HttpResponse } from '../http/messages.ts';
import type { Metrics } from './metrics.ts';
import type { Spans } from './spans.ts';

/** What looks at requests; each part may be absent. */
export interface Telemetry {
  readonly metrics: Pick<Metrics, 'count' | 'countAttempt'> | null;
  readonly spans: Spans | null;
}

/** Answers a request, and lets those who look at requests see how that went. */
export async function observe(
  telemetry: Telemetry | undefined,
  { method, path }: { readonly method: string; readonly path: string },
  request: HttpRequest,
  work: () => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  if (telemetry === undefined) return work();
  const { metrics, spans } = telemetry;
  const started = performance.now();
  const response = await (spans === null ? work() : spans.around({ method, route: path }, request.headers, work));
  metrics?.count({ method, route: path, status: response.status, ms: performance.now() - started });
  return response;
}
