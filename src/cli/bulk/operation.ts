import type { z } from 'zod';
import type { Client } from '../../client/client.ts';
import type { CallOptions } from '../../client/options.ts';
import { isProductName, MIN_PRODUCT_ID } from '../../contract/limits.ts';
import type { Instant } from '../../contract/scalars.ts';
import type { Field } from '../output/result.ts';
import { type Columns, columnsOf } from './reading/columns.ts';

/** Options that apply to every row. */
export interface Mode {
  readonly ifAbsent?: boolean;
  readonly createProducts?: boolean;
}

/** A JSON body. */
export type Body = Readonly<Record<string, unknown>>;

/** An object that must exist before rows that refer to it are sent. */
export interface Dependency {
  /** For a `key`, its product is looked up. */
  readonly kind: 'customer' | 'product' | 'version' | 'key';
  /** Unique in its kind: an e-mail address in lower case. */
  readonly name: string;
  /** The input to create it; null if the row does not contain enough. */
  readonly input: Readonly<Record<string, string>> | null;
  /** The message if it is missing and cannot be created. */
  readonly missingText?: string;
}

/** Finds or creates the objects that rows refer to. */
export interface Preparation {
  /** In the order of creation. */
  dependenciesOf(body: Body, mode: Mode): readonly Dependency[];
  find(client: Client, dependency: Dependency): Promise<string | null>;
  make(client: Client, dependency: Dependency, call: CallOptions): Promise<string>;
  /** Replaces names in a body by ids. */
  fill?(body: Body, ids: Readonly<Partial<Record<Dependency['kind'], string>>>): Body;
}

/** The outcome of a row, with fields for the results. */
export type Outcome = Readonly<Record<string, unknown>> & {
  /** Default: `done` of the operation. */
  readonly status?: string;
  /** Whether an earlier request did it. */
  readonly isOld?: boolean;
  /** How the result differs from the row. */
  readonly warning?: string | undefined;
};

export interface BulkOperation {
  readonly command: string;
  /** `created`, `key`. */
  readonly done: string;
  readonly noun: string;
  readonly schema: z.ZodType;
  readonly columns: Columns;
  readonly preparation?: Preparation;
  /** Turns the cells of a row into its final form. */
  arrange?(body: Body): Body;
  /** Problems of a valid body that the service would refuse, with the names of its fields. */
  problemsOf?(body: Body, now: Instant): readonly string[];
  warningsOf?(bodies: readonly Body[]): readonly string[];
  /** A body for the check by `schema`, with placeholders for ids that are looked up later. */
  toCheck?(body: Body): Body;
  /** Whether sending a row twice has no further effect, even after the service has deleted the stored response. */
  readonly repeatsSafely?: boolean;
  /** Adds a reference that is unique within the run, if the service stores one. */
  withReference?(body: Body, reference: string): Body;
  /** Fields of the results between status and error. */
  readonly fields: readonly Field[];
  send(client: Client, body: unknown, call: CallOptions, mode: Mode): Promise<Outcome>;
}

interface Spec<S extends z.ZodObject> extends Omit<BulkOperation, 'schema' | 'columns' | 'send'> {
  readonly schema: S;
  send(client: Client, input: z.output<S>, call: CallOptions, mode: Mode): Promise<Outcome>;
}

/** Derives the columns and the type of the input from the schema. */
export const bulkOperation = <S extends z.ZodObject>(spec: Spec<S>): BulkOperation => ({
  ...spec,
  columns: columnsOf(spec.schema),
  send: (client, body, call, mode) => spec.send(client, spec.schema.parse(body), call, mode),
});

/** Pads the name of a product to the form of an id, for the check by the contract. */
export function withProductId(body: Body): Body {
  const { productId } = body;
  const isNamed = typeof productId === 'string' && isProductName(productId);
  return isNamed ? { ...body, productId: productId.padEnd(MIN_PRODUCT_ID, '_') } : body;
}
