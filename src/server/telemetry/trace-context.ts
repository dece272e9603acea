/** Which trace a request belongs to, as its sender says. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The span of the sender, 16 hexadecimal digits. */
  readonly parentId: string;
}

const shape = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Reads a `traceparent` header (W3C Trace Context §3.2); null when there is none, or one that is malformed. */
export function readTraceparent(header: string | null): TraceContext | null {
  const [, version, traceId, parentId, rest] = shape.exec(header ?? '') ?? [];
  if (traceId === undefined || parentId === undefined) return null;
  // Version 00 has these four parts; later ones may have more.
  if (version === '00' && rest !== undefined) return null;
  return { traceId, parentId };
}
