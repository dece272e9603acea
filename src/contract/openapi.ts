import { z } from 'zod';
import { type AnyEndpoint, mutates, reasonsOf } from './endpoint.ts';
import { apiErrors, type Reason } from './errors.ts';
import { apiVersion, listEndpoints } from './index.ts';

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the service, made from the contract. It shows what is on the wire. */
export function toOpenApi(): Json {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const { name, endpoint } of listEndpoints()) {
    const method = endpoint.method.toLowerCase();
    paths[endpoint.path] = { ...paths[endpoint.path], [method]: operation(name, endpoint, schemas) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'lkm licence key service',
      version: apiVersion,
      description: 'Issues, inspects, signs and frees software licence keys, and keeps the customers they belong to.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [...new Set(listEndpoints().map(({ name }) => tagOf(name)))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'A token made for this service' } },
      schemas: {
        ...schemas,
        Error: {
          type: 'object',
          properties: { message: { type: 'string' }, code: { type: 'integer' } },
          required: ['message', 'code'],
          additionalProperties: false,
        },
      },
    },
  };
}

const tagOf = (name: string): string => name.split('.')[0] ?? name;

function operation(name: string, endpoint: AnyEndpoint, schemas: Json): Json {
  return {
    operationId: name,
    summary: endpoint.summary,
    description: `${scopeText(endpoint.scope)} Source: ${endpoint.source}.`,
    tags: [tagOf(name)],
    ...(endpoint.scope === 'public' ? { security: [] } : {}),
    ...(endpoint.retirement === undefined ? {} : { deprecated: true }),
    parameters: [
      ...(endpoint.query ? parametersOf(endpoint.query, schemas) : []),
      ...(mutates(endpoint) ? idempotencyHeaders : []),
    ],
    ...(endpoint.body
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(endpoint.body, schemas) } },
          },
        }
      : {}),
    responses: {
      [endpoint.reply.status]: {
        description: 'Success',
        content: { 'application/json': { schema: schemaOf(endpoint.reply.schema, schemas) } },
      },
      ...refusalsOf(endpoint),
    },
  };
}

const idempotencyHeaders: readonly Json[] = ['Idempotency-Key', 'X-Idempotency-Key'].map((name) => ({
  name,
  in: 'header',
  required: false,
  description:
    'Any unique text of 1 to 255 visible ASCII characters; a retry with it gets the first answer again. Opaque: "k" with quotes and k without are two keys',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}));

function scopeText(scope: AnyEndpoint['scope']): string {
  if (scope === 'public') return 'Needs no token.';
  return scope === 'none' ? 'Needs a valid token.' : `Needs the scope \`${scope}\`.`;
}

function parametersOf(query: z.ZodType, schemas: Json): Json[] {
  const { properties = {}, required = [] } = schemaOf(query, schemas) as {
    properties?: Json;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

/** The JSON Schema of the wire side; schemas that have an id become components. */
function schemaOf(schema: z.ZodType, schemas: Json): Json {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: 'input' })).replaceAll('#/$defs/', '#/components/schemas/');
  const { $schema: _, $defs, ...own } = JSON.parse(text) as Json;
  for (const [id, component] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { id: _id, $id: __, ...rest } = component;
    schemas[id] = rest;
  }
  return own;
}

/** One response per status, whose description lists each code with its message. */
function refusalsOf(endpoint: AnyEndpoint): Record<string, Json> {
  const responses: Record<string, Json> = {};
  for (const [status, reasons] of byStatus(endpoint)) {
    responses[status] = {
      description: reasons.map(describe).join('; '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return responses;
}

function byStatus(endpoint: AnyEndpoint): Map<string, Reason[]> {
  const statuses = new Map<string, Reason[]>();
  for (const reason of reasonsOf(endpoint)) {
    const status = String(apiErrors[reason].status);
    statuses.set(status, [...(statuses.get(status) ?? []), reason]);
  }
  return statuses;
}

function describe(reason: Reason): string {
  const { code, message } = apiErrors[reason];
  const text = typeof message === 'string' ? message : message({ customerId: '{customerId}', email: '{email}' });
  return `code ${code}: ${text}`;
}
