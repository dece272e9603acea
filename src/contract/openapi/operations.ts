import type { z } from 'zod';
import { type AnyEndpoint, commonReasonsOf, mutates, reasonsOf } from '../endpoint.ts';
import { apiErrors, type Reason } from '../errors.ts';
import { type Example, exampleOf } from './examples.ts';
import { headersOfError, headersOfSuccess } from './headers.ts';
import { type Json, type JsonSchema, jsonSchemaOf } from './json-schema.ts';

const idempotencyParameter = (name: string) => ({
  name,
  in: 'header',
  required: false,
  description:
    'Names this change. A retry with the same key and the same request gets the first response again, for 24 hours; ' +
    'another request with the same key is refused.',
  schema: { $ref: '#/components/schemas/IdempotencyKey' },
});

/** Parameters that operations share. Source: API description, "Common behavior". */
export const sharedParameters = { 'X-Idempotency-Key': idempotencyParameter('X-Idempotency-Key') };

/** The headers of a request that changes something; either will do. */
const idempotencyParameters = (operation: string): Json[] => [
  { ...idempotencyParameter('Idempotency-Key'), example: exampleKey(operation) },
  { $ref: '#/components/parameters/X-Idempotency-Key' },
];

/** A UUID (v4) of its own for each operation, so that nobody who tries two examples sends one key for both. */
function exampleKey(operation: string): string {
  const hash = [...operation].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 48, 7);
  return `5f0c1f2e-7a43-4a52-9d0e-${hash.toString(16).padStart(12, '0')}`;
}

/** The Operation Object of an endpoint. */
export function operation(name: string, endpoint: AnyEndpoint, schemas: Record<string, JsonSchema>): Json {
  const { query, body, reply } = endpoint;
  const example = exampleOf(endpoint);
  if (body) describeOtherNames(endpoint, jsonSchemaOf(body, schemas), schemas);
  const content = (schema: z.ZodType, value: unknown, type = 'application/json') => ({
    [type]: { schema: jsonSchemaOf(schema, schemas), example: value },
  });
  return {
    operationId: name,
    summary: endpoint.summary,
    description: [endpoint.description ?? `${endpoint.summary}.`, rightsText(endpoint)].join('\n\n'),
    tags: [name.split('.')[0]],
    ...(endpoint.scope === 'public' && { security: [] }),
    ...(endpoint.retirement && { deprecated: true }),
    parameters: [
      ...(query ? parametersOf(endpoint, query, example.query, schemas) : []),
      ...(mutates(endpoint) ? idempotencyParameters(name) : []),
    ],
    ...(body && { requestBody: { required: true, content: content(body, example.body) } }),
    responses: {
      [reply.status]: {
        description: endpoint.summary,
        headers: references('headers', headersOfSuccess(endpoint)),
        content: content(reply.schema, example.reply, reply.contentType),
      },
      ...errorResponses(endpoint),
    },
  };
}

/** Lists other names of fields in the schema of a body, each with the preferred name. */
function describeOtherNames(
  { otherNames = {} }: AnyEndpoint,
  { $ref }: JsonSchema,
  schemas: Record<string, JsonSchema>,
) {
  const id = $ref?.split('/').at(-1) ?? '';
  const others = Object.entries(otherNames)
    .filter(([name, [preferred]]) => name !== preferred)
    .map(([name, [preferred]]) => [name, { description: `Another name of \`${preferred}\`, which is preferred` }]);
  if (others.length === 0) return;
  const { properties, ...schema } = schemas[id] ?? {};
  schemas[id] = { ...schema, properties: { ...properties, ...Object.fromEntries(others) } };
}

/** An operation under another method and path, described by the preferred operation. */
export function aliasOperation(
  name: string,
  { method, path, query }: AnyEndpoint,
  alias: AnyEndpoint,
  schemas: Record<string, JsonSchema>,
): Json {
  const { method: aliasMethod, path: aliasPath, sets, takesQueryInBody } = alias;
  const id = aliasPath.replaceAll(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase());
  const fixed = Object.entries(sets ?? {}).map(([field, value]) => `, with \`${field}\` ${value}`);
  const shown =
    takesQueryInBody && query ? { ...alias, query: undefined, body: query.meta({ id: `${id}Request` }) } : alias;
  return {
    ...operation(`${name}.as${id}`, shown, schemas),
    tags: [name.split('.')[0]],
    summary: `${alias.summary}: another name`,
    description: `Another name of \`${method} ${path}\`${fixed.join('')}, which is preferred. \`${aliasMethod} ${aliasPath}\` is for applications that call it.`,
  };
}

function rightsText({ scope, openToClients }: AnyEndpoint): string {
  if (scope === 'public') return 'Needs no token.';
  const clients = openToClients ? '' : ' Not open to tokens of kind `client`.';
  return `${scope === 'none' ? 'Needs a valid token.' : `Needs the scope \`${scope}\`.`}${clients}`;
}

function parametersOf(
  { queryInHeaders = {} }: AnyEndpoint,
  query: z.ZodType,
  written: Example['query'],
  schemas: Record<string, JsonSchema>,
): Json[] {
  const { properties = {}, required = [] } = jsonSchemaOf(query, schemas);
  const inHeaders = Object.entries(queryInHeaders).map(([field, name]) => {
    const { description: _, ...schema } = properties[field] ?? {};
    return { name, in: 'header', required: false, description: `Another place of \`${field}\``, schema };
  });
  const inQuery = Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description,
    schema,
    // A list is written with commas.
    ...(schema.type === 'array' && { style: 'form', explode: false }),
    // Each member is a parameter of its own.
    ...(schema.type === 'object' && { style: 'form', explode: true }),
    ...(written[name] !== undefined && { example: typed(written[name], schema) }),
  }));
  return [...inQuery, ...inHeaders];
}

/** The value of a query parameter, from its text on the wire. */
const typed = (written: string, { type }: Json): unknown =>
  type === 'integer' || type === 'boolean' ? JSON.parse(written) : type === 'array' ? written.split(',') : written;

/** One response per status. Responses without an error of the operation's own are references to `sharedResponses`. */
const errorResponses = (endpoint: AnyEndpoint): Record<string, Json> =>
  Object.fromEntries(
    byStatus(reasonsOf(endpoint)).map(([status, reasons]) => {
      const name = reasons.some((reason) => endpoint.errors.includes(reason)) ? null : sharedName(endpoint, reasons);
      return [status, name === null ? errorResponse(endpoint, reasons) : { $ref: `#/components/responses/${name}` }];
    }),
  );

/** The error responses that every operation may return, or every operation that changes something, by name. */
export function sharedResponses(endpoints: readonly AnyEndpoint[]): Record<string, Json> {
  const responses = endpoints.flatMap((endpoint) =>
    byStatus(commonReasonsOf(endpoint)).map(([, reasons]) => [
      sharedName(endpoint, reasons),
      errorResponse(endpoint, reasons),
    ]),
  );
  return Object.fromEntries(responses);
}

/** `InvalidToken`, and for an operation that changes something `InvalidTokenOnChange`, which has further headers. */
const sharedName = (endpoint: AnyEndpoint, [first = '']: readonly string[]): string =>
  `${first.charAt(0).toUpperCase()}${first.slice(1)}${mutates(endpoint) ? 'OnChange' : ''}`;

const byStatus = (reasons: readonly Reason[]): [string, Reason[]][] => [
  ...Map.groupBy(reasons, (reason) => String(apiErrors[reason].status)),
];

/** A response with an example for each of its errors. */
const errorResponse = (endpoint: AnyEndpoint, reasons: readonly Reason[]): Json => ({
  description: reasons.map((reason) => `code ${apiErrors[reason].code}: ${apiErrors[reason].message}`).join('; '),
  headers: references('headers', headersOfError(endpoint, reasons)),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Error' },
      examples: references('examples', reasons),
    },
  },
});

const references = (kind: 'headers' | 'examples', names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]));
