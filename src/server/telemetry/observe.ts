import type { HttpRequest, HttpResponse } from '../http/messages.ts';
import { listenForMetrics, type MetricsAddress } from './listen.ts';
import type { Metrics, MetricsSources } from './metrics.ts';
import { openSpans, type Spans } from './spans.ts';

/** What looks at requests; each part may be absent. */
export interface Telemetry {
  readonly metrics: Pick<Metrics, 'count' | 'countAttempt'> | null;
  readonly spans: Spans | null;
}

/** The telemetry of a server: undefined when nobody looks at requests. */
interface OpenTelemetry {
  readonly telemetry: Telemetry | undefined;
  /** Where the metrics are, or null. */
  readonly url: string | null;
  close(): Promise<void>;
}

/**
 * Opens what looks at requests: metrics where an address is given, spans where an SDK was loaded.
 *
 * @throws StartupError when the address cannot be used
 */
export async function openTelemetry(
  address: MetricsAddress | undefined,
  sources: MetricsSources,
  onFailure: (error: unknown) => void,
): Promise<OpenTelemetry> {
  const spans = await openSpans();
  if (address === undefined) {
    return { telemetry: spans === null ? undefined : { metrics: null, spans }, url: null, close: async () => {} };
  }
  // Loaded only where it is used.
  const { createMetrics } = await import('./metrics.ts');
  const metrics = createMetrics(sources);
  const { url, close } = await listenForMetrics(address, metrics, onFailure).catch((error: unknown) => {
    metrics.close();
    throw error;
  });
  return { telemetry: { metrics, spans }, url, close: () => close().finally(metrics.close) };
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
