import type { HttpResponse, RequestHeaders } from '../http/messages.ts';

/** Spans of requests, for the OpenTelemetry SDK that the operator has loaded. */
export interface Spans {
  /** Runs the work inside a span, a child of the one that the `traceparent` of the request names. */
  around(
    names: { readonly method: string; readonly route: string },
    headers: RequestHeaders,
    work: () => HttpResponse | Promise<HttpResponse>,
  ): Promise<HttpResponse>;
}

/** Where the API package of OpenTelemetry keeps what an SDK has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Makes spans where an SDK was loaded before (`node --import ./otel.js`); null otherwise, at no cost. */
export async function openSpans(): Promise<Spans | null> {
  if (!(REGISTERED in globalThis)) return null;
  const { context, propagation, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api');
  const tracer = trace.getTracer('lkm');
  const getter = {
    get: (headers: RequestHeaders, name: string) => headers.get(name) ?? undefined,
    keys: () => ['traceparent', 'tracestate'],
  };
  return {
    around({ method, route }, headers, work) {
      const parent = propagation.extract(context.active(), headers, getter);
      const attributes = { 'http.request.method': method, 'http.route': route };
      return tracer.startActiveSpan(
        `${method} ${route}`,
        { kind: SpanKind.SERVER, attributes },
        parent,
        async (span) => {
          try {
            const response = await work();
            span.setAttribute('http.response.status_code', response.status);
            if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
            return response;
          } finally {
            span.end();
          }
        },
      );
    },
  };
}
