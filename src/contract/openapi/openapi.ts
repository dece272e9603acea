import { aliasesOf, reasonsOf } from '../endpoint.ts';
import { apiErrors, type Reason } from '../errors.ts';
import { apiVersion, listEndpoints, resources } from '../index.ts';
import { headersOfError, headersOfSuccess, responseHeaders } from './headers.ts';
import type { Json, JsonSchema } from './json-schema.ts';
import { aliasOperation, operation, sharedParameters, sharedResponses } from './operations.ts';
import { webhookOperations } from './webhooks.ts';

/** The OpenAPI 3.1 document of the service, made from the contract. It describes the data on the wire. */
export function toOpenApi(): Json {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Record<string, Json> = {};
  for (const { name, endpoint } of listEndpoints()) {
    const method = endpoint.method.toLowerCase();
    paths[endpoint.path] = { ...paths[endpoint.path], [method]: operation(name, endpoint, schemas) };
    for (const alias of aliasesOf(endpoint)) {
      const path = paths[alias.path] ?? {};
      paths[alias.path] = { ...path, [alias.method.toLowerCase()]: aliasOperation(name, endpoint, alias, schemas) };
    }
  }
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
      parameters: sharedParameters,
      headers: usedHeaders(),
      responses: sharedResponses(listEndpoints().map(({ endpoint }) => endpoint)),
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
sent back as it was read. There is one exception: a request that issues, imports or changes keys is refused (400, code 1)
if it has a field that belongs to another operation or to a licence. The message then gives the name that the field has in
this request, if there is one. Replies may gain fields: a client must accept fields it does not know.`;

/** The body of every error. The meaning of `code` depends on the HTTP status. */
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
