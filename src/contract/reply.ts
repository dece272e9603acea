import { z } from 'zod';

/**
 * The envelope of an answer: `wrap` puts a payload in it, `unwrap` takes it out, `schema` is what is on the wire.
 * Schemas are loose: fields that a later service adds pass through.
 */
export interface Reply<Payload = unknown> {
  readonly status: 200 | 201;
  readonly schema: z.ZodType;
  wrap(payload: Payload): unknown;
  unwrap(wire: unknown): Payload;
}

const code = z.literal(0).describe('0 on success');

/** `{code: 0, …}`: the endpoint's own fields beside the code. */
export function bare<S extends z.ZodRawShape>(shape: S): Reply<z.output<z.ZodObject<S>>> {
  const schema = z.looseObject({ code, ...shape });
  return {
    status: 200,
    schema,
    wrap: (payload) => ({ code: 0, ...payload }),
    unwrap: (wire) => without(['code'], schema.parse(wire)) as z.output<z.ZodObject<S>>,
  };
}

/** The endpoint's own fields and nothing else. */
export function plain<S extends z.ZodRawShape>(shape: S): Reply<z.output<z.ZodObject<S>>> {
  const schema = z.looseObject(shape);
  return {
    status: 200,
    schema,
    wrap: (payload) => payload,
    unwrap: (wire) => schema.parse(wire) as z.output<z.ZodObject<S>>,
  };
}

/** `{data, code: 0}`: a read outside the customer family. */
export function data<S extends z.ZodType>(payload: S): Reply<z.output<S>> {
  const schema = z.looseObject({ data: payload, code });
  return {
    status: 200,
    schema,
    wrap: (value) => ({ data: value, code: 0 }),
    unwrap: (wire) => schema.parse(wire).data as z.output<S>,
  };
}

/** `{action, status: true, data, code: 0}`: the envelope of the customer endpoints. */
export function acted<S extends z.ZodType>(action: string, payload: S, status: 200 | 201 = 200): Reply<z.output<S>> {
  const schema = z.looseObject({ action: z.string(), status: z.literal(true), data: payload, code });
  return {
    status,
    schema,
    wrap: (value) => ({ action, status: true, data: value, code: 0 }),
    unwrap: (wire) => schema.parse(wire).data as z.output<S>,
  };
}

/** `{action, status: true, code: 0}`: an operation of the customer family that answers no data. */
export function done(action: string): Reply<void> {
  const schema = z.looseObject({ action: z.string(), status: z.literal(true), code });
  return {
    status: 200,
    schema,
    wrap: () => ({ action, status: true, code: 0 }),
    unwrap: (wire) => void schema.parse(wire),
  };
}

function without(names: readonly string[], object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
