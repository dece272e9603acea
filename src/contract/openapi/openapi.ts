import type { z } from 'zod';
import { type AnyEndpoint, mutates, reasonsOf } from '../endpoint.ts';
import { apiErrors, type Reason } from '../errors.ts';
import { streamEvents } from '../events.ts';
import { apiVersion, listEndpoints, resources } from '../index.ts';
import { type Example, exampleOf } from './examples.ts';
import { headersOfError, headersOfSuccess, responseHeaders } from './headers.ts';
import { type Json, type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import { webhookOperations } from './webhooks.ts';

/** The OpenAPI 3.1 document of the service, made from the contract. It shows what is on the wire. */
export function toOpenApi(): Json {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Record<string, Json> = {};
  for (const { name, endpoint } of listEndpoints()) {
    const method = endpoint.method.toLowerCase();
    paths[endpoint.path] = { ...paths[endpoint.path], [method]: operation(name, endpoint, schemas) };
  }
  paths[streamEvents.path] = { get: operation('events.stream', streamEvents, schemas) };
  return {
    openapi: '3.1.1',
    info: {
      title: 'lkm licence key service',
      version: apiVersion,
      description: ABOUT,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '.', description: 'The service that serves this document' }],
    security: [{ bearer: [] }],
    tags: Object.entries(resources).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhookOperations(schemas),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of this service, as `Authorization: Bearer …`',
        },
      },
      headers: usedHeaders(),
      examples: errorExamples(),
      schemas: { ...schemas, IdempotencyKey: idempotencyKeySchema, Error: errorSchema },
    },
  };
}

const ABOUT = `Issues, inspects, signs and frees software licence keys, and keeps the customers they belong to.

**Retries.** Every operation that changes something accepts an idempotency key of your choice in the header
\`Idempotency-Key\` (or \`X-Idempotency-Key\`). A retry with the same key and the same request gets the first response
again and changes nothing more. A key is remembered for 24 hours. It is compared as it is written: a value with
quotation marks and the same value without them are two keys.

**Errors** are \`{message, code}\`; \`code\` refines the HTTP status.

**Unknown fields** in a request are ignored, so that a newer client can talk to an older service, and a resource can be
sent back as it was read. Where keys are issued, imported and changed, a field that they do not have while another
operation or a licence has it is refused (400, code 1), and the message says its name here where it has one. Replies may gain fields: a client must accept fields it does not know.`;

/** Every `code` there is. Its meaning depends on the HTTP status. */
const errorSchema = {
  type: 'object',
  description: 'Why a request failed',
  properties: {
    message: { type: 'string', description: 'For people', examples: [apiErrors.invalidToken.message] },
    code: {
      type: 'integer',
      description: 'Refines the HTTP status',
      enum: [...new Set(Object.values(apiErrors).map(({ code }) => code))].sort((a, b) => a - b),
    },
  },
  required: ['message', 'code'],
  additionalProperties: false,
};

const idempotencyKeySchema = {
  type: 'string',
  description: '1 to 255 visible ASCII characters, such as a UUID',
  minLength: 1,
  maxLength: 255,
  pattern: '^[!-~]([ -~]*[!-~])?$',
};

/** The headers of a request that changes something; either will do. Source: API description, "Common behavior". */
const idempotencyHeaders = ['Idempotency-Key', 'X-Idempotency-Key'];

const idempotencyParameter = (header: string, operation: string) => ({
  name: header,
  in: 'header',
  required: false,
  description:
    'Names this change. A retry with the same key and the same request gets the first response again, for 24 hours; ' +
    'another request with the same key is refused.',
  schema: { $ref: '#/components/schemas/IdempotencyKey' },
  example: exampleKey(operation),
});

/** A UUID (v4) of its own for each operation: whoever tries two of them must not send one key for both. */
function exampleKey(operation: string): string {
  const hash = [...operation].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 2 ** 48, 7);
  return `5f0c1f2e-7a43-4a52-9d0e-${hash.toString(16).padStart(12, '0')}`;
}

function operation(name: string, endpoint: AnyEndpoint, schemas: Record<string, JsonSchema>): Json {
  const { query, body, reply } = endpoint;
  const example = exampleOf(endpoint);
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
      ...(query ? parametersOf(query, example.query, schemas) : []),
      ...(mutates(endpoint) ? idempotencyHeaders.map((header) => idempotencyParameter(header, name)) : []),
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

function rightsText({ scope, openToClients }: AnyEndpoint): string {
  if (scope === 'public') return 'Needs no token.';
  const clients = openToClients ? '' : ' Not open to tokens of kind `client`.';
  return `${scope === 'none' ? 'Needs a valid token.' : `Needs the scope \`${scope}\`.`}${clients}`;
}

function parametersOf(query: z.ZodType, written: Example['query'], schemas: Record<string, JsonSchema>): Json[] {
  const { properties = {}, required = [] } = jsonSchemaOf(query, schemas);
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
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
}

/** A query parameter as its schema names it, from the text that it is on the wire. */
const typed = (written: string, { type }: Json): unknown =>
  type === 'integer' || type === 'boolean' ? JSON.parse(written) : type === 'array' ? written.split(',') : written;

/** One response per status, with an example for each of its errors. */
function errorResponses(endpoint: AnyEndpoint): Record<string, Json> {
  const byStatus = Map.groupBy(reasonsOf(endpoint), (reason) => String(apiErrors[reason].status));
  const responses = [...byStatus].map(([status, reasons]) => [
    status,
    {
      description: reasons.map((reason) => `code ${apiErrors[reason].code}: ${apiErrors[reason].message}`).join('; '),
      headers: references('headers', headersOfError(endpoint, reasons)),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: references('examples', reasons),
        },
      },
    },
  ]);
  return Object.fromEntries(responses);
}

const references = (kind: 'headers' | 'examples', names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]));

/** The headers that some response carries. */
function usedHeaders(): Json {
  const used = new Set<string>(
    listEndpoints().flatMap(({ endpoint }) => [
      ...headersOfSuccess(endpoint),
      ...headersOfError(endpoint, reasonsOf(endpoint)),
    ]),
  );
  return Object.fromEntries(Object.entries(responseHeaders).filter(([name]) => used.has(name)));
}

/** An example of each error that some endpoint may return. */
function errorExamples(): Json {
  const reasons = new Set(listEndpoints().flatMap(({ endpoint }) => reasonsOf(endpoint)));
  const example = ({ message, code }: (typeof apiErrors)[Reason]) => ({ value: { message, code } });
  return Object.fromEntries([...reasons].map((reason) => [reason, example(apiErrors[reason])]));
}
