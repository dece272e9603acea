import { z } from 'zod';
import { Count } from './scalars.ts';

/**
 * The envelope of a reply: `wrap` puts what a use case returns in it, `unwrap` takes the payload out, `schema` is what
 * is on the wire. Schemas are loose: fields that a later service adds pass through.
 */
export interface Reply<Payload = unknown, Result = Payload> {
  readonly status: 200 | 201;
  /** JSON unless given. Only a reply with `stream`, which writes its text, may name another type. */
  readonly contentType?: 'application/x-ndjson' | 'application/jwt' | 'text/event-stream';
  readonly schema: z.ZodType;
  wrap(result: Result): unknown;
  /** Its text, piece by piece: where that can be too long to be built at once, or is not JSON. */
  stream?(result: Result): AsyncIterable<string>;
  unwrap(wire: unknown): Payload;
}

const code = z.literal(0).describe('0 on success');
const status = z.literal(true).describe('true on success');

/** `{code: 0, …}`: the endpoint's own fields beside the code. */
export function bare<S extends z.ZodRawShape>(id: string, shape: S): Reply<z.output<z.ZodObject<S>>> {
  const schema = z.looseObject({ code: code, ...shape }).meta({ id });
  return {
    status: 200,
    schema,
    wrap: (payload) => ({ code: 0, ...payload }),
    unwrap: (wire) => without(['code'], schema.parse(wire)) as z.output<z.ZodObject<S>>,
  };
}

/** The endpoint's own fields and nothing else. */
export function plain<S extends z.ZodRawShape>(id: string, shape: S): Reply<z.output<z.ZodObject<S>>> {
  const schema = z.looseObject(shape).meta({ id });
  return {
    status: 200,
    schema,
    wrap: (payload) => payload,
    unwrap: (wire) => schema.parse(wire) as z.output<z.ZodObject<S>>,
  };
}

/** A signed token (RFC 7519), as it is. */
export function token(id: string, description: string): Reply<string> {
  const schema = z
    .string()
    .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    .meta({ id, description });
  return {
    status: 200,
    contentType: 'application/jwt',
    schema,
    wrap: (text) => text,
    async *stream(text) {
      yield text;
    },
    unwrap: (wire) => schema.parse(wire),
  };
}

/** `{data, code: 0}`: a read outside the customer family. */
export function data<T>(id: string, payload: z.ZodType<T>): Reply<T> {
  const schema = z.looseObject({ data: payload, code: code }).meta({ id });
  return {
    status: 200,
    schema,
    wrap: (value) => ({ data: value, code: 0 }),
    unwrap: (wire) => schema.parse(wire).data,
  };
}

const actionOf = (action: string) => z.string().meta({ description: 'The operation', examples: [action] });

/** `{action, status: true, data, code: 0}`: the envelope of the customer endpoints. */
export function acted<T>(id: string, action: string, payload: z.ZodType<T>, httpStatus: 200 | 201 = 200): Reply<T> {
  const schema = z.looseObject({ action: actionOf(action), status: status, data: payload, code: code }).meta({ id });
  return {
    status: httpStatus,
    schema,
    wrap: (value) => ({ action, status: true, data: value, code: 0 }),
    unwrap: (wire) => schema.parse(wire).data,
  };
}

/** `{action, status: true, code: 0}`: an operation of the customer family that returns no data. */
export function done(id: string, action: string): Reply<void> {
  const schema = z.looseObject({ action: actionOf(action), status: status, code: code }).meta({ id });
  return {
    status: 200,
    schema,
    wrap: () => ({ action, status: true, code: 0 }),
    unwrap: (wire) => void schema.parse(wire),
  };
}

/** Where a page stands in its list. */
export const PageMeta = z
  .looseObject({
    total: Count.describe('How many items there are in all, on every page'),
    page: Count.min(1).describe('This page, from 1'),
    limit: Count.min(1).describe('How many items a page has at most'),
    totalPages: Count.describe('How many pages there are'),
  })
  .meta({ id: 'PageMeta', description: 'Where this page stands; only when `page` or `limit` was given' });
export type PageMeta = z.output<typeof PageMeta>;

/** A list as the client has it; `meta` when it asked for a page. */
export interface List<Item> {
  readonly items: readonly Item[];
  readonly meta?: PageMeta | undefined;
}

/** A list as a use case returns it: a page, or all items as they are read. */
export interface ListResult<Item> {
  readonly items: readonly Item[] | AsyncIterable<Item>;
  readonly meta?: PageMeta | undefined;
}

/** `{action, status: true, data: […], meta?, code: 0}`: a list of the customer family. */
export const actedList = <T>(id: string, action: string, item: z.ZodType<T>): Reply<List<T>, ListResult<T>> =>
  listReply(
    action,
    z
      .looseObject({
        action: actionOf(action),
        status: status,
        data: z.array(item),
        meta: PageMeta.optional(),
        code: code,
      })
      .meta({ id }),
    { action, status: true },
  );

/** `{data: […], meta?, code: 0}`: a list outside the customer family. */
export const dataList = <T>(id: string, item: z.ZodType<T>): Reply<List<T>, ListResult<T>> =>
  listReply(id, z.looseObject({ data: z.array(item), meta: PageMeta.optional(), code: code }).meta({ id }), {});

type ListOnWire<T> = z.ZodType<{ readonly data: readonly T[]; readonly meta?: PageMeta | undefined }>;

function listReply<T>(name: string, schema: ListOnWire<T>, head: object): Reply<List<T>, ListResult<T>> {
  const envelope = (items: readonly T[], meta: PageMeta | undefined) => ({
    ...head,
    data: items,
    ...(meta && { meta }),
    code: 0,
  });
  return {
    status: 200,
    schema,
    wrap: ({ items, meta }) => {
      if (!Array.isArray(items)) throw new TypeError(`${name} is read piece by piece: stream it`);
      return envelope(items, meta);
    },
    stream: ({ items, meta }) => streamItems(JSON.stringify(envelope([], meta)), items),
    unwrap: (wire) => {
      const { data: items, meta } = schema.parse(wire);
      return { items, ...(meta && { meta }) };
    },
  };
}

/** How a walk through a list goes on. */
export const CursorMeta = z
  .looseObject({
    limit: Count.min(1).describe('How many items a part has at most'),
    next: z.string().nullable().describe('The `cursor` of the part after this one; null when this is the last'),
  })
  .meta({ id: 'CursorMeta', description: 'How to go on; only when `cursor` was given' });

/** A part of a list, and where it stands or how to go on. */
export interface Part<Item, Meta> {
  readonly items: readonly Item[];
  readonly meta: Meta;
}

/** `{data: […], meta, code: 0}`: a list that is too long to be read at once. */
export function partList<T, M>(id: string, item: z.ZodType<T>, meta: z.ZodType<M>): Reply<Part<T, M>> {
  const schema = z.looseObject({ data: z.array(item), meta, code: code }).meta({ id });
  return {
    status: 200,
    schema,
    wrap: ({ items, meta: about }) => ({ data: items, meta: about, code: 0 }),
    unwrap: (wire) => {
      const parsed = schema.parse(wire);
      return { items: parsed.data, meta: parsed.meta };
    },
  };
}

/** Text is handed on in pieces of about this many characters: one per item would cost more than the item. */
const PIECE_LENGTH = 16_384;

/** The text of an envelope with an empty `data`, filled with the items. At most one piece is held at a time. */
async function* streamItems(envelope: string, items: readonly unknown[] | AsyncIterable<unknown>) {
  const start = envelope.indexOf('"data":[') + '"data":['.length;
  let piece = envelope.slice(0, start);
  let separator = '';
  for await (const item of items) {
    piece += separator + JSON.stringify(item);
    separator = ',';
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
  }
  yield piece + envelope.slice(start);
}

function without(names: readonly string[], object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}
