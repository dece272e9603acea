import { z } from 'zod';
import { Count, resource, shown } from './scalars.ts';

/**
 * The envelope of a reply: `wrap` puts the result of a use case in it, `unwrap` takes the payload out, `schema` describes
 * the reply on the wire. Schemas are loose: fields that a later service adds pass through.
 */
export interface Reply<Payload = unknown, Result = Payload> {
  readonly status: 200 | 201;
  /** JSON unless given. Only a reply with `stream`, which writes its text, may name another type. */
  readonly contentType?: 'application/jwt' | undefined;
  readonly schema: z.ZodType;
  wrap(result: Result): unknown;
  /** The text of the reply in pieces, if it may be too long for one string or is not JSON. */
  stream?(result: Result): AsyncIterable<string>;
  unwrap(wire: unknown): Payload;
}

type Wire = Readonly<Record<string, unknown>>;

type Fields<S extends z.ZodRawShape> = z.output<z.ZodObject<S>>;

/** Converts the result of a use case to the members of a reply, and back for clients. */
interface Envelope<Payload, Result> {
  wrap(result: Result): Wire;
  unwrap(wire: Wire): Payload;
}

function object<Payload, Result>(
  id: string,
  shape: z.ZodRawShape,
  { wrap, unwrap }: Envelope<Payload, Result>,
  status: Reply['status'] = 200,
): Reply<Payload, Result> {
  const schema = z.looseObject(shape).meta({ id });
  return { status, schema, wrap, unwrap: (wire) => unwrap(schema.parse(wire)) };
}

const code = z.literal(0).describe('0 on success');

/** The endpoint's own fields and nothing else. */
export const plain = <S extends z.ZodRawShape>(id: string, shape: S): Reply<Fields<S>> =>
  object(id, shape, { wrap: (fields) => fields, unwrap: (wire) => wire as Fields<S> });

/** `{code: 0, …}`: the code and the endpoint's own fields. */
export const bare = <S extends z.ZodRawShape>(id: string, shape: S, { mayLackCode = false } = {}): Reply<Fields<S>> =>
  object<Fields<S>, Fields<S>>(
    id,
    { code: mayLackCode ? code.optional() : code, ...shape },
    { wrap: (fields) => ({ code: 0, ...fields }), unwrap: ({ code: _, ...fields }) => fields as Fields<S> },
  );

/** A text that is not JSON, as it is. */
export const textReply = (contentType: Reply['contentType'], schema: z.ZodType<string>): Reply<string> => ({
  status: 200,
  contentType,
  schema,
  wrap: (text) => text,
  async *stream(text) {
    yield text;
  },
  unwrap: (wire) => schema.parse(wire),
});

/** `{…, code: 0}`, behind `{action, status: true}` where there is an action. */
function enveloped<Payload, Result = Payload>(
  id: string,
  action: string | null,
  members: z.ZodRawShape,
  { wrap, unwrap }: Envelope<Payload, Result>,
  status?: Reply['status'],
): Reply<Payload, Result> {
  const actionFields = {
    action: z.string().meta({ description: 'The operation', examples: [action] }),
    status: z.literal(true).describe('true on success'),
  };
  const head = action === null ? {} : { action, status: true };
  const shape = { ...(action !== null && actionFields), ...members, code };
  return object(id, shape, { wrap: (result) => ({ ...head, ...wrap(result), code: 0 }), unwrap }, status);
}

/** `{action, status: true, message?, data, code: 0}`: the envelope of the customer endpoints, with a text for people if given. */
export function acted<T>(
  id: string,
  action: string | null,
  payload: z.ZodType<T>,
  { status, message }: { readonly status?: Reply['status']; readonly message?: string } = {},
): Reply<T> {
  const members = { ...(message && { message: shown('For people', message) }), data: payload };
  const wrap = (data: T) => ({ ...(message && { message }), data });
  return enveloped<T>(id, action, members, { wrap, unwrap: ({ data }) => data as T }, status);
}

/** `{message?, data, code: 0}`: outside the customer family. */
export const data = <T>(id: string, payload: z.ZodType<T>, message?: string): Reply<T> =>
  acted(id, null, payload, message === undefined ? {} : { message });

/** `{action, status: true, code: 0}`: an operation of the customer family that returns no data. */
export const done = (id: string, action: string): Reply<void> =>
  enveloped(id, action, {}, { wrap: () => ({}), unwrap: () => undefined });

/** Where a page stands in its list. */
export const PageMeta = resource('PageMeta', 'Where this page stands; only when `page` or `limit` was given', {
  total: Count.describe('How many items there are in all, on every page'),
  page: Count.min(1).describe('This page, from 1'),
  limit: Count.min(1).describe('How many items a page has at most'),
  totalPages: Count.describe('How many pages there are'),
});
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

/** `{action, status: true, data: […], meta?, code: 0}`: a list; without its first two where there is no action. */
export function listReply<T>(id: string, action: string | null, item: z.ZodType<T>): Reply<List<T>, ListResult<T>> {
  const members = { data: z.array(item), meta: PageMeta.optional() };
  const reply = enveloped<List<T>, ListResult<T>>(id, action, members, {
    wrap: ({ items, meta }) => {
      if (!Array.isArray(items)) throw new TypeError(`${action ?? id} is read piece by piece: stream it`);
      return { data: items, ...(meta && { meta }) };
    },
    unwrap: ({ data, meta }) => ({ items: data as T[], ...(meta ? { meta: meta as PageMeta } : {}) }),
  });
  return {
    ...reply,
    stream: ({ items, ...rest }) => streamItems(JSON.stringify(reply.wrap({ ...rest, items: [] })), items),
  };
}

/** The position of a part in a walk through a list. */
export const CursorMeta = resource('CursorMeta', 'How to go on; unless `page` was given', {
  limit: Count.min(1).describe('How many items a part has at most'),
  next: z.string().nullable().describe('The `cursor` of the part after this one; null when this is the last'),
});

/** A part of a list with its position. */
export interface Part<Item, Meta> {
  readonly items: readonly Item[];
  readonly meta: Meta;
}

/** `{data: […], meta, code: 0}`: a list that is too long to be read at once. */
export function partList<T, M>(id: string, item: z.ZodType<T>, meta: z.ZodType<M>): Reply<Part<T, M>> {
  const members = { data: z.array(item), meta };
  return enveloped<Part<T, M>>(id, null, members, {
    wrap: ({ items, meta }) => ({ data: items, meta }),
    unwrap: ({ data, meta }) => ({ items: data as T[], meta: meta as M }),
  });
}

const last = Count.describe('The next part begins after it. Nothing is left once it is what `after` was');

/** `{data: […], meta: {last, …}, code: 0}`: a part of a numbered list. */
export const feed = <T, M extends z.ZodRawShape>(id: string, item: z.ZodType<T>, more: M) =>
  partList(id, item, z.looseObject({ last, ...more }));

/** The length of a piece of text, in characters; one piece per item would cost more than the item. */
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
