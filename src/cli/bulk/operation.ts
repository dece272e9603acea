import type { z } from 'zod';
import type { Client } from '../../client/client.ts';
import type { CallOptions } from '../../client/options.ts';
import { isProductName, MIN_PRODUCT_ID } from '../../contract/limits.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { Field } from '../output/result.ts';
import { type Columns, columnsOf } from './reading/columns.ts';

/** Options of the command that hold for every row: `ifAbsent`. */
export type Mode = Readonly<Record<string, boolean>>;

/** The body of a request, as JSON has it. */
export type Body = Readonly<Record<string, unknown>>;

/** Something that rows refer to and that has to be there before they are sent. */
export interface Need {
  /** Of a `key` its product is needed. */
  readonly kind: 'customer' | 'product' | 'version' | 'key';
  /** Tells it from others of its kind: an e-mail address, in lower case. */
  readonly name: string;
  /** What it takes to make it; null when the row does not say enough. */
  readonly input: Readonly<Record<string, string>> | null;
  /** Why it cannot be made without `input`. */
  readonly lacks?: string;
}

/** How an operation finds what its rows need, and makes what is not there. */
export interface Preparation {
  /** In the order in which they are made. */
  needsOf(body: Body, mode: Mode): readonly Need[];
  find(client: Client, need: Need): Promise<string | null>;
  make(client: Client, need: Need, call: CallOptions): Promise<string>;
  /** Puts the ids of what the row needs into its body. */
  fill?(body: Body, ids: Readonly<Partial<Record<Need['kind'], string>>>): Body;
}

/** What was done with a row; the results show its other fields. */
export type Outcome = Readonly<Record<string, unknown>> & {
  /** In place of `done` of the operation. */
  readonly status?: string;
  /** Whether an earlier request had done it. */
  readonly isOld?: boolean;
  /** How the result differs from the request. */
  readonly warning?: string | undefined;
};

/** A void outcome has nothing to show. */
type Sending = Promise<Outcome> | Promise<void>;

/** What a bulk command does with each row of a file. */
export interface BulkOperation {
  readonly command: string;
  /** What has been done, and to what: `created`, `key`. */
  readonly done: string;
  readonly noun: string;
  readonly schema: z.ZodType;
  readonly columns: Columns;
  /** What rows refer to, and a run makes before them where it is not there. */
  readonly preparation?: Preparation;
  /** A body as the cells have it, in the form in which it is kept. */
  arrange?(body: Body): Body;
  /** What the service would refuse of a body that `schema` takes, with the names of its fields. */
  problemsOf?(body: Body, now: Instant): readonly string[];
  /** What should be known of bodies that can be sent. */
  warningsOf?(bodies: readonly Body[]): readonly string[];
  /** The body as `schema` can check it: with a placeholder for what a look-up has still to find. */
  toCheck?(body: Body): Body;
  /** Whether sending a row twice does no more than sending it once, also when the service has forgotten the first time. */
  readonly repeatsSafely?: boolean;
  /** The body of a row with its own reference within the run, where the service keeps one. */
  withReference?(body: Body, reference: string): Body;
  /** What the results show between status and error. */
  readonly fields: readonly Field[];
  send(client: Client, body: unknown, call: CallOptions, mode: Mode): Sending;
}

interface Spec<S extends z.ZodObject> extends Omit<BulkOperation, 'schema' | 'columns' | 'send'> {
  readonly schema: S;
  send(client: Client, input: z.output<S>, call: CallOptions, mode: Mode): Sending;
}

/** Declares a bulk operation; its columns and the type of its input follow from its schema. */
export const bulkOperation = <S extends z.ZodObject>(spec: Spec<S>): BulkOperation => ({
  ...spec,
  columns: columnsOf(spec.schema),
  send: (client, body, call, mode) => spec.send(client, spec.schema.parse(body), call, mode),
});

/** A body as the contract can check it: with an id in the place of a product's name. */
export function withProductId(body: Body): Body {
  const { productId } = body;
  const isNamed = typeof productId === 'string' && isProductName(productId);
  return isNamed ? { ...body, productId: productId.padEnd(MIN_PRODUCT_ID, '_') } : body;
}
