import { type EventType, eventTypes } from '../events.ts';
import { payloadSchema } from '../webhooks/payloads.ts';
import { examples } from './examples.ts';
import { type Json, jsonSchemaOf } from './json-schema.ts';

/** The section `webhooks` of the document: what is sent to the addresses of an account, for each type of event. */
export const webhookOperations = (schemas: Json): Json =>
  Object.fromEntries(eventTypes.map((type) => [type, { post: operation(type, schemas) }]));

function operation(type: EventType, schemas: Json): Json {
  const { address: _, ...event } = examples.event;
  const example = type === event.type ? { example: event } : {};
  return {
    operationId: `webhook.${type}`,
    summary: `Sent for ${type}`,
    description:
      'Signed as Standard Webhooks says. A response of 2xx within 15 seconds accepts it; everything else is repeated, ' +
      'with the same `webhook-id`.',
    tags: ['webhooks'],
    security: [],
    parameters: headers,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: jsonSchemaOf(payloadSchema(type), schemas), ...example } },
    },
    responses: {
      '2XX': { description: 'Accepted' },
      '410': { description: 'Nobody is here any more: the webhook is disabled' },
      default: { description: 'Not accepted: it is sent again, after `Retry-After` at the earliest' },
    },
  };
}

const headers = [
  ['webhook-id', 'The event, the same at each attempt', examples.event.id],
  ['webhook-timestamp', 'When this attempt was made, in seconds since 1970', '1795255200'],
  [
    'webhook-signature',
    '`v1,` and base64 HMAC-SHA256 of `id.timestamp.body`; several with spaces between them while a secret is changed',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ],
].map(([name, description, example]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
}));
