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
const actionOf = (action: string) => z.string().meta({ description: 'The operation', examples: [action] });

type Fields<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;

/** A reply of the members in `shape`. */
function replyOf<S extends z.ZodRawShape, Payload, Result = Payload>(
  id: string,
  shape: S,
  { unwrap, ...reply }: Pick<Reply<Payload, Result>, 'wrap' | 'stream'> & { unwrap(wire: Fields<S>): Payload },
  httpStatus: Reply['status'] = 200,
): Reply<Payload, Result> {
  const schema = z.looseObject(shape).meta({ id });
  return { status: httpStatus, schema, ...reply, unwrap: (wire) => unwrap(schema.parse(wire) as Fields<S>) };
}

/** `{code: 0, …}`: the endpoint's own fields beside the code. */
export const bare = <S extends z.ZodRawShape>(id: string, shape: S): Reply<Fields<S>> =>
  replyOf(
    id,
    { code, ...shape },
    {
      wrap: (payload) => ({ code: 0, ...payload }),
      unwrap: (wire) => {
        const { code: _, ...payload } = wire as Record<string, unknown>;
        return payload as Fields<S>;
      },
    },
  );

/** The endpoint's own fields and nothing else. */
export const plain = <S extends z.ZodRawShape>(id: string, shape: S): Reply<Fields<S>> =>
  replyOf(id, shape, { wrap: (payload) => payload, unwrap: (wire) => wire });

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
export const data = <T>(id: string, payload: z.ZodType<T>): Reply<T> =>
  replyOf(
    id,
    { data: payload, code },
    { wrap: (value) => ({ data: value, code: 0 }), unwrap: (wire) => wire.data as T },
  );

/** `{action, status: true, data, code: 0}`: the envelope of the customer endpoints. */
export const acted = <T>(
  id: string,
  action: string,
  payload: z.ZodType<T>,
  httpStatus: Reply['status'] = 200,
): Reply<T> =>
  replyOf(
    id,
    { action: actionOf(action), status, data: payload, code },
    { wrap: (value) => ({ action, status: true, data: value, code: 0 }), unwrap: (wire) => wire.data as T },
    httpStatus,
  );

/** `{action, status: true, code: 0}`: an operation of the customer family that returns no data. */
export const done = (id: string, action: string): Reply<void> =>
  replyOf(
    id,
    { action: actionOf(action), status, code },
    { wrap: () => ({ action, status: true, code: 0 }), unwrap: () => {} },
  );

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
  listReply(id, action, item, { shape: { action: actionOf(action), status }, head: { action, status: true } });

/** `{data: […], meta?, code: 0}`: a list outside the customer family. */
export const dataList = <T>(id: string, item: z.ZodType<T>): Reply<List<T>, ListResult<T>> =>
  listReply(id, id, item, { shape: {}, head: {} });

function listReply<T>(
  id: string,
  name: string,
  item: z.ZodType<T>,
  { shape, head }: { readonly shape: z.ZodRawShape; readonly head: object },
): Reply<List<T>, ListResult<T>> {
  const envelope = (items: readonly T[], meta: PageMeta | undefined) => ({
    ...head,
    data: items,
    ...(meta && { meta }),
    code: 0,
  });
  return replyOf(
    id,
    { ...shape, data: z.array(item), meta: PageMeta.optional(), code },
    {
      wrap: ({ items, meta }) => {
        if (!Array.isArray(items)) throw new TypeError(`${name} is read piece by piece: stream it`);
        return envelope(items, meta);
      },
      stream: ({ items, meta }) => streamItems(JSON.stringify(envelope([], meta)), items),
      unwrap: ({ data: items, meta }) => ({ items: items as T[], ...(meta && { meta: meta as PageMeta }) }),
    },
  );
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
export const partList = <T, M>(id: string, item: z.ZodType<T>, meta: z.ZodType<M>): Reply<Part<T, M>> =>
  replyOf(
    id,
    { data: z.array(item), meta, code },
    {
      wrap: ({ items, meta: about }) => ({ data: items, meta: about, code: 0 }),
      unwrap: (wire) => ({ items: wire.data as T[], meta: wire.meta as M }),
    },
  );

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
