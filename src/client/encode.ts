import { z } from 'zod';
import type { AnyEndpoint } from '../contract/endpoint.ts';
import { InputError, type InputIssue } from './errors.ts';

/** An input as it goes on the wire. */
export interface EncodedInput {
  /** Empty, or with its question mark. */
  readonly search: string;
  /** JSON text, built once so that every attempt sends the same bytes. */
  readonly body: string | null;
}

/** Checks an input by the contract's schemas and encodes it; throws an {@link InputError} with all that is wrong. */
export function encodeInput(endpoint: Pick<AnyEndpoint, 'query' | 'body'>, input: unknown): EncodedInput {
  const query = encodePart(endpoint.query, input);
  const body = encodePart(endpoint.body, input);
  const issues = [...query.issues, ...body.issues];
  if (issues.length > 0) throw new InputError(issues);
  refuseUnknown(input, { ...query.fields, ...body.fields });
  return { search: toSearch(query.fields), body: endpoint.body ? JSON.stringify(body.fields) : null };
}

interface EncodedPart {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly issues: readonly InputIssue[];
}

/** The schemas of query and body each see the whole input and keep the fields they name. */
function encodePart(schema: AnyEndpoint['query'], input: unknown): EncodedPart {
  if (schema === undefined) return { fields: {}, issues: [] };
  const result = z.safeEncode(schema, input as Record<string, unknown>);
  if (result.success) return { fields: result.data as Record<string, unknown>, issues: [] };
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  return { fields: {}, issues };
}

/** A misspelt field would otherwise be dropped, and the service would take its default. */
function refuseUnknown(input: unknown, known: Readonly<Record<string, unknown>>): void {
  const issues = Object.entries(input ?? {})
    .filter(([name, value]) => value !== undefined && !Object.hasOwn(known, name))
    .map(([name]) => ({ path: name, message: 'unknown field' }));
  if (issues.length > 0) throw new InputError(issues);
}

function toSearch(fields: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}
