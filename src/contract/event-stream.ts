import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { typeField } from './events.ts';
import { feedFields } from './fields.ts';
import type { Reply } from './reply.ts';

/** Server-sent events (WHATWG): a text that goes on until either side ends it. */
const eventStream: Reply<string> = {
  status: 200,
  contentType: 'text/event-stream',
  schema: z.string().meta({
    id: 'EventStream',
    description: 'Server-sent events: `id` is the number of the event, `event` its type, `data` the event as JSON',
    examples: ['id: 42\nevent: license.created\ndata: {"id":"evt_…","seq":42,"type":"license.created"}\n\n'],
  }),
  wrap: (text) => text,
  unwrap: (wire) => z.string().parse(wire),
};

/** Events as they happen: beside the contract, whose responses are read whole; in the document. Source: decision 0039. */
export const streamEvents = endpoint('GET /event/stream', 'event:read', {
  summary: 'Follow events',
  description:
    'Sends events as they happen, as server-sent events, after the header `Last-Event-ID`, else after `after`, else from ' +
    'now on. A comment every 15 seconds shows that it is alive. Not for a token that is limited to some products.',
  query: z.object({ after: feedFields.after.describe('The number after which to begin'), type: typeField }),
  reply: eventStream,
  example: { after: '41' },
});
