import { z } from 'zod';
import { type EventType, eventData, eventFields, eventTypes } from '../events.ts';
import { sampleOf } from './examples.ts';
import { type Json, type JsonSchema, jsonSchemaOf } from './json-schema.ts';

/** The body of a webhook of one type. */
export const payloadSchema = (type: EventType) =>
  z
    .looseObject({ ...eventFields, type: z.literal(type), data: z.looseObject(eventData[type]) })
    .meta({ id: payloadName(type), description: `The body of a webhook: ${type}` });

/** `license.expiring_soon` → `LicenseExpiringSoonEvent`. */
const payloadName = (type: EventType): string =>
  `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** The section `webhooks` of the document: the requests to the addresses of an account, for each type of event. */
export const webhookOperations = (schemas: Record<string, JsonSchema>): Json =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: operation(type, schemas) }]));

function operation(type: EventType, schemas: Record<string, JsonSchema>): Json {
  const schema = jsonSchemaOf(payloadSchema(type), schemas);
  return {
    operationId: `webhook.${type}`,
    summary: `Sent for ${type}`,
    description:
      'Signed as Standard Webhooks says. A response of 2xx within 15 seconds accepts it; everything else is repeated, ' +
      'with the same `webhook-id`.',
    tags: ['webhooks'],
    security: [],
    parameters: [
      header('webhook-id', 'The event, the same at each attempt', 'evt_01jd7q8k5v1n4c7w0x2z6b9t3m'),
      header('webhook-timestamp', 'When this attempt was made, in seconds since 1970', '1795255200'),
      header(
        'webhook-signature',
        '`v1,` and base64 HMAC-SHA256 of `id.timestamp.body`; several with spaces between them while a secret is changed',
        'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
      ),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: sampleOf(schema, schemas) } },
    },
    responses: {
      '2XX': { description: 'Accepted' },
      '410': { description: 'Nobody is here any more: the webhook is disabled' },
      default: { description: 'Not accepted: it is sent again, after `Retry-After` at the earliest' },
    },
  };
}

const header = (name: string, description: string, example: string) => {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
};
