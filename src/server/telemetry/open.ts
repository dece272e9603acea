import { listenForMetrics, type MetricsAddress } from './listen.ts';
import type { Metrics, MetricsSources } from './metrics.ts';
import type { Telemetry } from './observe.ts';
import { openSpans } from './spans.ts';

/** The telemetry of a server. */
export interface OpenTelemetry {
  /** Undefined when nobody looks at requests. */
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
  const metrics: Metrics = createMetrics(sources);
  try {
    const listener = await listenForMetrics(address, metrics, onFailure);
    return {
      telemetry: { metrics, spans },
      url: listener.url,
      close: async () => {
        await listener.close();
        metrics.close();
      },
    };
  } catch (error) {
    metrics.close();
    throw error;
  }
}
